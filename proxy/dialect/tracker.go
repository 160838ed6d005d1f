package dialect

import (
	"bytes"
	"cmp"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/wire"
)

// Limits on what a Tracker remembers. It forgets the oldest first.
const (
	maxNames = 4096    // of each kind of thing: sessions, servers, connections, tokens, tasks
	maxName  = 1 << 10 // bytes of a method, an id or a name; longer ones are ignored
)

// A Tracker follows both directions of one connection in tape order, and says what each
// frame means. No input makes it fail: it skips what it does not understand. It is not
// safe for concurrent use.
//
// It annotates both a frame that acptap withheld and the one sent in its place. Callers
// that take the view of one end skip the frames that this end has not seen
// (wire.Frame.AtClient, AtAgent).
type Tracker struct {
	given   Protocol // the protocol given to NewTracker
	conn    Connection
	settled bool // a response has confirmed the dialect
	proven  bool // the proposal was seen in use, not only announced

	calls   callMap[pair]
	turns   bounded.Map[string, turn]
	servers bounded.Map[string, string]  // MCP server declared by an ACP client → session
	links   bounded.Map[string, string]  // connectionId → that server
	tokens  bounded.Map[callKey, string] // progress token → session
	tasks   bounded.Map[callKey, string] // taskId → session

	failed   bounded.Map[callOf, bool] // failed tool calls, or with true, those that the client has cancelled or the user has rejected
	restored bounded.Map[string, bool] // sessions that may replay history: loaded or resumed, and not prompted since
	joining  joining
	pace     pace
	ending   ending
	header   string // the session named last by an HTTP header

	// strings holds the names seen so far, so recurring ones are not allocated again. It
	// is a cache and not part of the state.
	strings map[string]string
}

// NewTracker returns a Tracker for the beginning of a connection. With AnyProtocol it
// infers the protocol from the traffic.
func NewTracker(p Protocol) *Tracker {
	t := &Tracker{given: p, strings: make(map[string]string)}
	t.conn.Protocol = p
	t.calls.Limit = maxOpen
	t.turns.Limit = maxNames
	t.servers.Limit = maxNames
	t.links.Limit = maxNames
	t.tokens.Limit = maxNames
	t.tasks.Limit = maxNames
	t.failed.Limit = maxNames
	t.restored.Limit = maxNames
	t.joining.ids.Limit = maxNames
	t.joining.own.Limit = maxNames
	t.pace.sessions.Limit = maxNames
	t.pace.tools.Limit = maxNames
	return t
}

// Connection returns what both sides have said about themselves so far. Before the
// response to initialize, the dialect is the one that the client offers.
func (t *Tracker) Connection() Connection { return t.conn }

// Observe handles the next frame of the tape, with its envelope as returned by wire.Scan,
// and returns what it means. It keeps no reference to the frame's bytes.
func (t *Tracker) Observe(f *wire.Frame, e wire.Envelope) (Annotation, SessionFacts) {
	switch f.Kind {
	case wire.Stderr:
		return Annotation{}, SessionFacts{}
	case wire.Mark:
		return Annotation{Events: t.mark(f)}, SessionFacts{}
	}
	late := t.late(f) // before f changes the state
	s := step{Frame: f, Envelope: e}
	switch f.Kind {
	case wire.Invalid, wire.Body:
	case wire.Batch:
		s.annotation, s.facts = t.batch(f)
	default:
		t.message(&s)
	}
	if f.Kind == wire.Request && f.Dir == wire.AgentToClient && t.ending.Left {
		s.annotation.Events |= AskedNobody
	}
	if f.AtClient() || f.Dir == wire.ClientToAgent {
		s.annotation.Events |= slowEvents[late[s.annotation.Session]]
		t.hear(&s)
	}
	return s.annotation, s.facts
}

// A step is a message that the Tracker is handling.
type step struct {
	*wire.Frame
	wire.Envelope
	annotation Annotation
	facts      SessionFacts
}

// maxBatch limits how many entries of a batch are read: a frame of one mebibyte can hold
// half a million.
const maxBatch = 1024

// batch handles the first maxBatch entries one by one. The batch belongs to a session if
// all entries that have one agree on it.
func (t *Tracker) batch(f *wire.Frame) (Annotation, SessionFacts) {
	var all Annotation
	var facts SessionFacts
	agreed := true
	wire.Entries(f.Raw, func(i int, entry []byte) bool {
		if i == maxBatch {
			return false
		}
		s := step{Frame: f, Envelope: wire.Scan(entry)}
		switch s.Envelope.Kind {
		case wire.Request, wire.Response, wire.Notification:
			t.message(&s)
		}
		all.Entries = append(all.Entries, s.annotation)
		all.Events |= s.annotation.Events
		switch session := s.annotation.Session; {
		case session == "" || session == all.Session:
		case all.Session == "":
			all.Session = session
		default:
			agreed = false
		}
		facts = facts.or(s.facts)
		return true
	})
	if !agreed {
		all.Session, facts = "", SessionFacts{}
	}
	return all, facts
}

// or fills the empty fields of n from more.
func (n SessionFacts) or(more SessionFacts) SessionFacts {
	if n == (SessionFacts{}) {
		return more
	}
	for _, field := range []struct{ to, from *string }{
		{&n.Cwd, &more.Cwd}, {&n.Title, &more.Title}, {&n.Prompt, &more.Prompt},
		{&n.Parent, &more.Parent}, {&n.Expires, &more.Expires},
	} {
		if *field.to == "" {
			*field.to = *field.from
		}
	}
	if n.Setup == 0 {
		n.Setup = more.Setup
	}
	n.Outcome = n.Outcome.Or(more.Outcome)
	n.Cost = cmp.Or(more.Cost, n.Cost)
	return n
}

func (t *Tracker) message(s *step) {
	if s.Method == nil {
		t.response(s)
		return
	}
	method := t.name(s.Method)
	s.annotation.Method = method
	if t.given == AnyProtocol && !t.settled && (t.conn.Protocol == AnyProtocol || Does(method, Initializes)) {
		if p := guess(method, s.Params); p != AnyProtocol {
			t.conn.Protocol = p
		}
	}
	switch t.conn.Protocol {
	case MCP:
		t.mcpCall(s, method)
	default:
		t.acpCall(s, method)
	}
	t.inHeader(s)
}

// response handles the answer to a request. If acptap put a request of its own between the
// two ends, one response may answer the requests of both. The annotation then takes the
// view of the client's end, but names the request of the end that asked.
func (t *Tracker) response(s *step) {
	p := t.answer(s.Frame, s.ID)
	first, second := p.Client, p.Agent
	if first == nil {
		first, second = second, nil
	}
	switch {
	case first == nil:
		t.unasked(s)
		t.inHeader(s)
		return
	case second != nil && second.Seq == first.Seq:
		second = nil
	}
	if second != nil {
		other := step{Frame: s.Frame, Envelope: s.Envelope}
		t.answered(&other, second)
	}
	t.answered(s, first)
	if s.Dir == wire.AgentToClient && p.Agent != nil {
		s.annotation.Events |= slowEvents[t.answersLate(s.Frame, p.Agent)]
	}
	if s.Dir == wire.ClientToAgent && p.Agent != nil {
		s.annotation.Request = p.Agent.Seq
	}
	t.inHeader(s)
}

func (t *Tracker) answered(s *step, c *call) {
	s.annotation.Method, s.annotation.Session, s.annotation.Request = c.Method, c.Session, c.Seq
	switch t.conn.Protocol {
	case MCP:
		t.mcpAnswer(s, c)
		if c.Cancelled && (s.failed() || s.annotation.Events.Has(ToolFailed)) {
			s.annotation.Events |= AnswerUnwanted
		}
	default:
		t.acpAnswer(s, c)
	}
}

// unasked handles a response whose request is unknown.
func (t *Tracker) unasked(s *step) {
	if t.conn.Protocol == MCP {
		s.annotation.Session = t.stated(s)
	}
}

// failed reports whether a response carries an error.
func (s *step) failed() bool { return wire.Present(s.Error) }

// code returns the code of a response's error, or 0 if there is none.
func (s *step) code() int64 {
	code, _ := wire.Integer(wire.Get(s.Error, "code"))
	return code
}

// name returns b as a string, without allocating if it was seen before.
func (t *Tracker) name(b []byte) string {
	if name, ok := t.strings[string(b)]; ok {
		return name
	}
	if len(b) > maxName {
		return ""
	}
	if len(t.strings) >= maxNames {
		clear(t.strings) // names still in use come back
	}
	name := string(bytes.ToValidUTF8(b, []byte("\ufffd")))
	if len(name) == len(b) {
		t.strings[name] = name
	}
	return name
}

// text returns the text of a JSON string; like name, it reuses strings.
func (t *Tracker) text(value []byte) string {
	if !quoted(value) || len(value) > 6*maxName+2 { // each byte may be spelled \u0000
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return t.name(value[1 : len(value)-1])
	}
	return t.name([]byte(wire.Text(value)))
}
