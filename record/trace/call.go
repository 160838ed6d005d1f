package trace

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
)

// A Call is a request with its response. Each request of a batch is a call.
type Call struct {
	Run       int             // index in Trace.Runs
	Request   uint64          // Seq
	Response  uint64          // Seq; 0 while there is none
	Dir       wire.Direction  // of the request
	ID        json.RawMessage // as sent
	Method    string
	Tool      string        // that tools/call names (MCP)
	Session   string        // empty: the connection's
	Began     time.Duration // since the tape began
	Ended     time.Duration // 0 while there is no response
	Untimed   bool          // nobody knows when the request came, or when the response
	Failed    bool          // the response carries an error
	Cancelled bool          // whoever asked has taken it back; it may succeed all the same
}

// Open reports whether the call has no response (yet).
func (c *Call) Open() bool { return c.Response == 0 }

// Latency returns the time from the request to the response, 0 of an open call and
// of one that is Untimed.
func (c *Call) Latency() time.Duration {
	if c.Open() || c.Untimed {
		return 0
	}
	return c.Ended - c.Began
}

// A callKey tells open calls apart. Each side numbers its own requests, so the
// same id may be in use in both directions at once.
type callKey struct {
	dir wire.Direction
	id  string // JSON text
}

// A pendingCall is an open call and what its response will be read with.
type pendingCall struct {
	*Call
	params     json.RawMessage // where the response alone says too little
	permission *Permission     // that the call asks for
	turn       *Turn           // that the call, a prompt, has begun
}

// begin opens the call of a request. A request with the id of one that is still
// open takes its place; the older stays open for good.
func (t *Trace) begin(f *frame) *pendingCall {
	w := &pendingCall{Call: &Call{
		Run:     f.run,
		Request: f.Seq,
		Dir:     f.Dir,
		ID:      append(json.RawMessage(nil), f.env.ID...),
		Method:  f.Method,
		Session: f.Session,
		Began:   f.At,
		Untimed: f.Untimed,
	}}
	switch {
	case answerNeedsRequest[f.Method]:
		w.params = f.keep(f.params())
	case f.Method == "tools/call":
		w.Tool = strings.Clone(f.params().Get("name").Str)
	}
	t.Calls = append(t.Calls, w.Call)
	t.pending[callKey{f.Dir, string(f.env.ID)}] = w
	return w
}

// end closes the call that a response answers. A response to a request that was
// not seen ends a call of which only the method may be known.
func (t *Trace) end(f *frame) *pendingCall {
	key := callKey{wire.AgentToClient, string(f.env.ID)}
	if f.Dir == wire.AgentToClient {
		key.dir = wire.ClientToAgent
	}
	w := t.pending[key]
	if w == nil {
		return &pendingCall{Call: &Call{Dir: key.dir, Method: f.Method}}
	}
	delete(t.pending, key)
	w.Response, w.Ended, w.Failed, w.Untimed = f.Seq, f.At, f.Failed, w.Untimed || f.Untimed
	return w
}

// cancelRequest marks the call that a $/cancel_request of ACP or a
// notifications/cancelled of MCP names. Both name one of their own side.
func (t *Trace) cancelRequest(f *frame) {
	w := t.pending[callKey{f.Dir, f.params().Get("requestId").Raw}]
	if w == nil {
		return
	}
	w.Cancelled = true
	if w.turn != nil {
		w.turn.Cancelled = true
	}
}

// cancelTurns does what session/cancel says: all work of the session ends.
func (t *Trace) cancelTurns(s *Session) {
	for _, turn := range s.Conversation.turns.open {
		turn.Cancelled = true
	}
	for _, w := range t.pending {
		if w.Session == s.ID && w.Method == "session/prompt" {
			w.Cancelled = true
		}
	}
}

// answerNeedsRequest has the methods whose response is read with the request.
var answerNeedsRequest = map[string]bool{
	"session/new":            true,
	"session/load":           true,
	"session/resume":         true,
	"session/fork":           true,
	"session/set_mode":       true,
	"session/set_model":      true,
	"terminal/create":        true,
	"terminal/output":        true,
	"terminal/wait_for_exit": true,
	"terminal/release":       true,
}

func (w *pendingCall) param(name string) string { return gjson.GetBytes(w.params, name).String() }
