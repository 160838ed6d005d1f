package nested

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A Tape holds the calls on the tape of a server that an agent started, or on the agent's
// own tape for a server that the client hosts.
type Tape struct {
	ID     string
	Parent string // the agent's tape
	Link   string // empty: the session for which the server was started is unknown
	Server string // the agent's name for the server
	Start  time.Time
	Ready  time.Time // when the server had reported what it offers; zero: not yet
	Calls  []*Call   // of the client, in the order of their requests

	open    []*Call // the unanswered ones, in the same order
	names   map[string]names
	asking  map[uint64]asking
	heard   time.Time // time of the last frame
	ended   bool      // no more frames will come
	changes int       // counts the changes of its calls
	taken   int       // number of calls that the Join has read
	seen    int       // changes when the Join last looked
	session string    // session to which the Join has attributed the calls; empty: none
	hosted  bool      // the client hosts the server, and this is part of the agent's tape
	owner   string    // the session of a hosted server; empty: not yet known

	process process
}

// A Call is a call to a server: to one of its tools, or for a resource or a prompt.
type Call struct {
	Tape *Tape

	Method    string
	Name      string // of the tool or the prompt, or the URI of the resource
	Request   uint64 // Seq
	Response  uint64 // Seq; 0 if there is none yet
	Began     time.Time
	Ended     time.Time // time of the answer; zero if there is none yet
	Untimed   bool      // one of these times is unknown
	Failed    bool      // the answer is an error, or a tool's result with isError
	Problem   string    // the text of the failure, cut
	Cancelled bool      // the client has cancelled it
	Meanwhile Meanwhile

	id      string // as dialect.IDKey returns it
	stream  uint64 // the stream it was sent on
	token   []byte // progress token, as JSON
	words   names
	settled bool // its join is final
	traits
}

// names are the names of a server and of one of its tools, as words.
type names struct{ server, tool []string }

// Meanwhile is what the server sent while it worked on a call. Progress is attributed to a
// call by its token; everything else by its HTTP stream, or if no other call was open.
type Meanwhile struct {
	Progress int    // notifications
	Latest   string // text of the latest of them
	Logs     int    // notifications/message
	Asked    []Asked
}

// Asked is a request from the server.
type Asked struct {
	Method  string // sampling/createMessage, elicitation/create, roots/list, …
	Request uint64 // Seq
	Took    time.Duration
	Open    bool
	Answer  string // of an elicitation: accepted, declined, cancelled or failed
}

// An asking identifies the server's request that a response answers.
type asking struct {
	call  *Call
	index int // in Asked
	at    time.Duration
}

// Limits on what is kept of a call.
const (
	maxText  = 200 // bytes of a problem, a name or a message
	maxAsked = 16
	maxOpen  = 1 << 12 // unanswered calls
)

// Hosted reports whether the client hosts the server. The frames of its calls are then on the
// agent's tape, whose id is ID.
func (t *Tape) Hosted() bool { return t.hosted }

// Owner returns the session in which a hosted server is called; empty: unknown.
func (t *Tape) Owner() string { return t.owner }

// Open reports whether the call has no answer yet.
func (c *Call) Open() bool { return c.Response == 0 }

// IsTool reports whether the call is a tool call.
func (c *Call) IsTool() bool { return dialect.Does(c.Method, dialect.CallsTool) }

// IsOf reports whether the call has an id, as JSON: all requests of a batch share a frame.
func (c *Call) IsOf(id string) bool { return c.id == dialect.IDKey([]byte(id)) }

// Took returns the call's duration, or 0 if it is open or Untimed.
func (c *Call) Took() time.Duration {
	if c.Open() || c.Untimed {
		return 0
	}
	return c.Ended.Sub(c.Began)
}

// span returns when the call began and was answered, as Unix times in ns. An open call counts
// as answered immediately.
func (c *Call) span() (began, answered int64) {
	began = c.Began.UnixNano()
	if c.Open() {
		return began, began
	}
	return began, c.Ended.UnixNano()
}

// Add handles the next frame of the tape, with its bytes. It keeps no part of f.
func (t *Tape) Add(f *dialect.Frame) {
	t.heard = t.Start.Add(f.At)
	if f.Redelivered {
		return
	}
	t.process.mark(f)
	for m, e := range f.Messages {
		t.message(m, e)
	}
}

// End marks the tape as finished.
func (t *Tape) End() { t.ended = true }

func (t *Tape) message(f *dialect.Frame, e wire.Envelope) {
	fromClient := f.Dir == wire.ClientToAgent
	switch {
	case f.Dir == wire.AgentStderr:
	case e.Method == nil && fromClient:
		t.replied(f, e)
	case e.Method == nil:
		t.answer(f, e)
	case f.Events.Has(dialect.RequestCancelled) && fromClient:
		t.cancelled(f.Request)
	case !fromClient:
		t.spoke(f, e)
	case e.ID != nil && IsUse(string(e.Method)):
		t.ask(f, e)
	}
}

// IsUse reports whether a client's request uses the server rather than asking what it offers.
func IsUse(method string) bool {
	return !dialect.Does(method, dialect.Initializes|dialect.Discovers|dialect.Pings|dialect.SetsLogLevel) && !strings.HasSuffix(method, "/list")
}

func (t *Tape) ask(f *dialect.Frame, e wire.Envelope) {
	params := e.Params.Value()
	c := &Call{
		Tape:    t,
		Method:  strings.Clone(cut(string(e.Method))),
		Name:    strings.Clone(cut(cmp.Or(params.Get("name").Text(), params.Get("uri").Text()))),
		Request: f.Seq,
		Began:   t.Start.Add(f.At),
		Untimed: f.Untimed,
		id:      dialect.IDKey(e.ID),
		stream:  f.Stream,
		words:   t.wordsOf(params.Get("name").Text()),
		token:   bytes.Clone([]byte(params.Get("_meta.progressToken").Raw())),
	}
	if f.Kind != wire.Oversized {
		c.traits = traitsOf(params)
	}
	t.Calls, t.open = append(t.Calls, c), append(t.open, c)
	if len(t.open) > maxOpen {
		t.open = t.open[1:]
	}
	t.changes++
}

// wordsOf returns the words of the names of the server and of one of its tools.
func (t *Tape) wordsOf(tool string) names {
	n, ok := t.names[tool]
	if !ok {
		if t.names == nil || len(t.names) == maxOpen {
			t.names = map[string]names{}
		}
		n = names{words(t.Server), words(cut(tool))}
		t.names[strings.Clone(tool)] = n
	}
	return n
}

// answer handles the response to a call.
func (t *Tape) answer(f *dialect.Frame, e wire.Envelope) {
	if f.Request == 0 {
		return
	}
	if t.Ready.IsZero() && f.Does(dialect.Initializes|dialect.Discovers) && !f.Untimed {
		t.Ready = t.Start.Add(f.At)
	}
	t.process.answered(f, e)
	for i, c := range t.open {
		if c.Request != f.Request || c.id != dialect.IDKey(e.ID) { // a batch has several calls
			continue
		}
		t.open = append(t.open[:i:i], t.open[i+1:]...)
		c.Response, c.Ended, c.Untimed = f.Seq, t.Start.Add(f.At), c.Untimed || f.Untimed
		c.Failed = dialect.Failed(e, &f.Annotation)
		result := e.Result.Value()
		text := firstText(result.Get("content"))
		if c.Failed {
			c.Problem = strings.Clone(cut(cmp.Or(e.Error.Get("message").Text(), text)))
		}
		if f.Kind != wire.Oversized {
			c.says = excerptOf(text)
		}
		t.changes++
		return
	}
}

func (t *Tape) cancelled(request uint64) {
	for _, c := range t.open {
		if c.Request == request {
			c.Cancelled = true
			t.changes++
		}
	}
}

// spoke handles a request or notification sent by the server.
func (t *Tape) spoke(f *dialect.Frame, e wire.Envelope) {
	method := string(e.Method)
	role := dialect.RoleOf(dialect.MCP, method)
	if role.Is(dialect.TellsProgress) {
		t.progress(f.Stream, e.Params.Value())
		return
	}
	open := t.openOn(f.Stream)
	if len(open) != 1 {
		return
	}
	c := open[0]
	switch m := &c.Meanwhile; {
	case role.Is(dialect.Logs):
		m.Logs++
	case e.ID == nil || len(m.Asked) == maxAsked:
		return
	default:
		if t.asking == nil {
			t.asking = map[uint64]asking{}
		}
		if len(t.asking) < maxOpen {
			t.asking[f.Seq] = asking{c, len(m.Asked), f.At}
		}
		m.Asked = append(m.Asked, Asked{Method: strings.Clone(cut(method)), Request: f.Seq, Open: true})
	}
	t.changes++
}

// openOn returns the open calls that a message on a stream may concern: those sent on the
// stream, or else all.
func (t *Tape) openOn(stream uint64) []*Call {
	var own []*Call
	for _, c := range t.open {
		if stream != 0 && c.stream == stream {
			own = append(own, c)
		}
	}
	if own == nil {
		return t.open
	}
	return own
}

func (t *Tape) progress(stream uint64, params wire.Value) {
	token := params.Get("progressToken").Raw()
	for _, c := range t.openOn(stream) {
		if token != "" && string(c.token) == token {
			c.Meanwhile.Progress++
			c.Meanwhile.Latest = strings.Clone(cut(progressText(params)))
			t.changes++
		}
	}
}

// progressText formats a progress report.
func progressText(params wire.Value) string {
	text := params.Get("progress").Raw()
	if total := params.Get("total").Raw(); total != "" {
		text += "/" + total
	}
	return strings.TrimSpace(text + " " + params.Get("message").Text())
}

// replied handles the client's answer to a request from the server.
func (t *Tape) replied(f *dialect.Frame, e wire.Envelope) {
	if q, ok := t.asking[f.Request]; ok {
		delete(t.asking, f.Request)
		one := &q.call.Meanwhile.Asked[q.index]
		one.Took, one.Open = f.At-q.at, false
		if f.Does(dialect.AsksInput) {
			if one.Answer = trace.AnswerWord(cut(e.Result.Get("action").Text())); f.Failed {
				one.Answer = "failed"
			}
		}
		t.changes++
	}
}

// cut shortens a text to maxText.
func cut(text string) string { return wire.Clip(text, maxText) }
