package trace

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Call is a request with its response. Each request of a batch is a call.
type Call struct {
	Run       int             // index in Trace.Runs
	Request   uint64          // Seq
	Response  uint64          // Seq; 0 if there is none yet
	Dir       wire.Direction  // of the request
	ID        json.RawMessage // as sent
	Method    string
	Carries   string        // the method passed along a proxy chain; empty: none
	Tool      string        // the tool that tools/call names (MCP)
	Session   string        // empty: the connection's
	Began     time.Duration // since the tape began
	Ended     time.Duration // 0 until there is a response
	Untimed   bool          // the time of the request or of the response is unknown
	Failed    bool          // the response carries an error
	Refused   bool          // the user rejected or declined what the call asked for
	Cancelled bool          // its sender has cancelled it; it may still succeed
	Sent      int64         // bytes of the request
	Got       int64         // bytes of the response; 0 if there is none yet
}

// carries returns the method inside a message that a component of a proxy chain passes
// along.
func carries(f *frame) string {
	if dialect.Wraps(f.Method) {
		return f.Update
	}
	return ""
}

// Name returns the name to show: the method, or for a message passed along a proxy chain
// a sign and the inner method.
func (c *Call) Name() string {
	a := dialect.Annotation{Method: c.Method, Update: c.Carries}
	return a.Name()
}

// Open reports whether the call has no response yet.
func (c *Call) Open() bool { return c.Response == 0 }

// Latency returns the time from the request to the response, or 0 if the call is
// open or Untimed.
func (c *Call) Latency() time.Duration {
	if c.Open() || c.Untimed {
		return 0
	}
	return c.Ended - c.Began
}

// Introductions returns the calls in which the two sides say what they offer: initialize,
// and on each tape the first successful server/discover (MCP since 2026-07-28), unless
// another introduction precedes it. Clients of both eras try server/discover first, and
// older servers do not know it.
func (t *Trace) Introductions() []*Call {
	var list []*Call
	for _, c := range t.Calls {
		known := len(list) > 0 && list[len(list)-1].Run == c.Run
		discovers := dialect.Does(c.Method, dialect.Discovers) && !c.Open() && !c.Failed
		if dialect.Does(c.Method, dialect.Initializes) || discovers && !known {
			list = append(list, c)
		}
	}
	return list
}

// A pendingCall is an open call with what is needed to read its response.
type pendingCall struct {
	*Call
	id         string          // as in Call
	entry      int             // index in the batch that the request is in
	session    *Session        // nil: the connection's
	inTurn     int             // number of the turn in which it began
	params     json.RawMessage // nil if the response says enough
	permission *Permission     // the permission that the call asks for
	question   *Entity         // the question that it asks; nil: none
	tool       *Entity         // the tool call that the permission is for, or nil
	turn       *Turn           // the turn that the call, a prompt, began
	during     *Turn           // the turn during which the agent sent the call, or nil
	wait       wait            // set if the call waits for the client, the user or a command
}

// asked returns the question that the call asks, or nil.
func (w *pendingCall) asked() *Question {
	if w.question == nil {
		return nil
	}
	return w.question.Question
}

// beginCall opens the call of a request. A request with the id of one that is
// still open replaces it; the older call never gets a response.
func (t *Trace) beginCall(f *frame) *pendingCall {
	id := f.clip(string(f.env.ID))
	w := &pendingCall{Call: &Call{
		Run:     f.run,
		Request: f.Seq,
		Dir:     f.Dir,
		ID:      json.RawMessage(id),
		Method:  f.Method,
		Carries: carries(f),
		Session: f.Session,
		Began:   f.At,
		Untimed: f.Untimed,
		Sent:    f.Size,
	}, id: id, entry: f.entry}
	switch {
	case f.role.Is(answerNeedsRequest):
		if w.params = f.keep(f.params()); t.Brief && len(f.env.Params) <= maxParams {
			w.params = bytes.Clone(f.env.Params)
		}
	case f.role.Is(dialect.CallsTool):
		w.Tool = strings.Clone(f.cut(f.params().Get("name").Text()))
	}
	if !t.Brief {
		t.Calls = append(t.Calls, w.Call)
	}
	replaced, forgotten := t.pending.Ask(f.Dir, f.Stream, f.env.ID, w)
	replaced.leave(f, Replaced)
	forgotten.leave(f, Forgotten)
	return w
}

// leave emits the end of a call that is dropped without a response. w may be nil.
func (w *pendingCall) leave(f *frame, why End) {
	if w == nil {
		return
	}
	if w.session != nil {
		w.session.Conversation.clock.end(f, &w.wait)
	}
	if w.permission != nil {
		f.emit(w.permissionEvent(Ended).as(why, ""))
	}
	f.emit(w.event(Ended).as(why, ""))
}

// endCall closes the call that a response answers. If the request was not seen, the returned
// call has at most a method.
func (t *Trace) endCall(f *frame) *pendingCall {
	w := t.pending.Answer(f.Dir, f.Stream, f.env.ID)
	if w == nil {
		return &pendingCall{Call: &Call{Dir: f.Dir.Opposite(), Method: f.Method}}
	}
	w.Response, w.Ended, w.Failed, w.Untimed, w.Got = f.Seq, f.At, f.Failed, w.Untimed || f.Untimed, f.Size
	w.Refused = f.Events.Has(dialect.PermissionRefused)
	return w
}

// cancelRequest marks the call named by a $/cancel_request of ACP or a
// notifications/cancelled of MCP. Each side names its own requests.
func (t *Trace) cancelRequest(f *frame) {
	w := t.pending.Find(f.Dir, f.Stream, []byte(f.params().Get("requestId").Raw()))
	if w == nil {
		return
	}
	if w.turn != nil {
		w.session.Conversation.cancel(f, w.turn)
	}
	w.cancel(f)
}

func (w *pendingCall) cancel(f *frame) {
	w.Cancelled = true
	f.emit(w.event(Changed))
}

// cancelTurns applies a session/cancel, which cancels all work in the session.
func (t *Trace) cancelTurns(f *frame, s *Session) {
	for _, turn := range s.Conversation.turns.open {
		s.Conversation.cancel(f, turn)
	}
	for w := range t.pending.All() {
		if w.Session == s.ID && dialect.Does(w.Method, dialect.Prompts) {
			w.cancel(f)
		}
	}
}

// answerNeedsRequest has the roles of methods whose response means nothing without the
// request.
const answerNeedsRequest = dialect.Opens | dialect.SetsMode | dialect.SetsModel |
	dialect.StartsCommand | dialect.ReadsOutput | dialect.AwaitsExit | dialect.ReleasesTerminal

func (w *pendingCall) param(name string) string { return wire.JSON(w.params).Get(name).String() }
