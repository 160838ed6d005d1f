package stall

import (
	"bytes"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// work is what is open on a connection.
type work struct {
	sessions map[string]*session // with an open turn or setup, by id
	calls    map[callKey]*call   // without an answer
	tokens   map[tokenKey]*call  // calls that report progress, by token
	owed     int                 // number of open calls of the client
	asking   int                 // number of open calls that wait for the user or the client, outside of sessions
	answered place               // when one of those was last answered
}

// A callKey is the frame of a request, and its index within a batch.
type callKey struct {
	seq   uint64
	entry int
}

// A tokenKey is a progress token of MCP, and the side that chose it.
type tokenKey struct {
	dir   wire.Direction
	token string
}

// maxToken is the length of the longest progress token that is remembered.
const maxToken = 256

// take processes the next frame and its events in the trace.
func (k *work) take(f *dialect.Frame, here place, events []trace.Event) {
	for i := range events {
		switch e := &events[i]; e.Kind {
		case trace.TurnEvent:
			k.turn(e, here)
		case trace.CallEvent:
			k.call(f, e, here)
		case trace.PermissionEvent:
			if c := k.calls[callKey{e.First, e.Entry}]; c != nil && e.ToolCall != nil {
				c.tool = e.ToolCall
			}
		case trace.ToolCallEvent:
			if s := k.sessions[e.SessionID]; s != nil && e.Phase == trace.Began {
				s.begins(here)
			}
		case trace.SessionEvent:
			if s := k.sessions[e.SessionID]; s != nil && e.Phase == trace.Ended {
				s.turns = false
				k.release(s)
			}
		}
	}
	k.hear(f, here)
	switch {
	case f.Kind == wire.Oversized: // its id may be in a part that was not read
		for reply := range f.Replies() {
			k.end(k.calls[callKey{seq: reply.Request}], here)
			if s := k.sessions[reply.Session]; s != nil && reply.Events.Has(dialect.TurnEnded) {
				s.turns = false
				k.release(s)
			}
		}
	case f.Dir == wire.ClientToAgent && wire.ReadMark(f.Frame).EOF: // the client sends no more answers
		for _, c := range k.calls {
			if c.dir == wire.AgentToClient {
				k.end(c, here)
			}
		}
	}
}

func (k *work) turn(e *trace.Event, here place) {
	if e.Phase == trace.Began {
		k.session(e.Session, here).turns = true
	}
	s := k.sessions[e.SessionID]
	if s == nil {
		return
	}
	switch turn, _ := s.of.Conversation.Working(); {
	case turn == nil:
		s.turns = false
		k.release(s)
	case e.Phase == trace.Changed && e.Cancelled && turn == e.Turn && s.cancelled != turn.Number:
		s.cancelled, s.cancel, s.began = turn.Number, here, 0
	}
}

func (k *work) call(f *dialect.Frame, e *trace.Event, here place) {
	key := callKey{e.First, e.Entry}
	switch c := k.calls[key]; {
	case e.Phase == trace.Began:
		if kind, ok := kindOf(f, e); ok {
			k.begin(&call{key: key, kind: kind, dir: e.Dir, of: e.Call, turn: e.InTurn, since: here, work: k}, f, e)
		}
	case c == nil:
	case e.Phase == trace.Ended, isFinal(f):
		k.end(c, here)
	case e.Cancelled && c.cancel.seq == 0:
		c.cancel = here
	}
}

// kindOf returns how a request may hang; false: it cannot, or only as a turn.
func kindOf(f *dialect.Frame, e *trace.Event) (Kind, bool) {
	m, _ := dialect.Lookup(dialect.AnyProtocol, e.Method)
	asked := e.Dir == wire.AgentToClient
	switch {
	case f.Events.Has(dialect.AskedNobody), m.Ends == dialect.AtClose, dialect.Wraps(e.Method):
		return 0, false
	case m.Role.Is(dialect.Prompts) && e.Session != nil:
		return 0, false
	case asked && trace.PartOf(e.Method) == trace.ForTool:
		return 0, false
	case m.Ends == dialect.ByUser, asked && trace.PartOf(e.Method) == trace.ForUser:
		return Asked, true
	case asked && m.Role.Is(dialect.UsesFile|dialect.UsesTerminal):
		return Client, true
	case m.Role.Is(dialect.Opens | dialect.Initializes):
		return Setup, true
	}
	return Hung, true
}

// isFinal reports whether a frame cancels an MCP request, which then gets no answer. In
// ACP it still gets one.
func isFinal(f *dialect.Frame) bool {
	cancels := func(a dialect.Annotation) bool {
		return dialect.RoleOf(dialect.MCP, a.Method).Is(dialect.CancelsRequest)
	}
	return cancels(f.Annotation) || slices.ContainsFunc(f.Entries, cancels)
}

func (k *work) begin(c *call, f *dialect.Frame, e *trace.Event) {
	if k.calls == nil {
		k.calls = map[callKey]*call{}
	}
	k.calls[c.key] = c
	if c.dir == wire.ClientToAgent {
		k.owed++
	}
	if c.asksOutside() {
		k.asking++
	}
	if c.kind == Setup && e.Session != nil {
		c.session = k.session(e.Session, c.since)
		c.session.setups++
	}
	if token := progressToken(f, e.Entry, e.Method); token != "" {
		if k.tokens == nil {
			k.tokens = map[tokenKey]*call{}
		}
		c.token = tokenKey{c.dir, token}
		k.tokens[c.token] = c
	}
}

// end stops waiting for a call, which may be nil.
func (k *work) end(c *call, here place) {
	if c == nil || c.over {
		return
	}
	c.over = true
	delete(k.calls, c.key)
	if k.tokens[c.token] == c {
		delete(k.tokens, c.token)
	}
	if c.dir == wire.ClientToAgent {
		k.owed--
	}
	if c.asksOutside() {
		k.asking--
		k.answered = here
	}
	if c.session != nil {
		c.session.setups--
		k.release(c.session)
	}
}

// progressToken returns the token that a request sets for its progress, or an empty
// string.
func progressToken(f *dialect.Frame, entry int, method string) string {
	if !bytes.Contains(f.Raw, []byte(`"progressToken"`)) {
		return ""
	}
	return kept(dialect.MadeID(method, dialect.ProgressToken, message(f, entry).Params))
}

func kept(token []byte) string {
	if len(token) > maxToken {
		return ""
	}
	return string(token)
}

// message returns a frame, or an entry of a batch.
func message(f *dialect.Frame, entry int) (e wire.Envelope) {
	if f.Kind != wire.Batch {
		return wire.Scan(f.Raw)
	}
	wire.Entries(f.Raw, func(i int, raw []byte) bool {
		e = wire.Scan(raw)
		return i < entry
	})
	return e
}

// hear counts a frame as a sign of life of its session or call.
func (k *work) hear(f *dialect.Frame, here place) {
	if !f.AtClient() || f.Kind == wire.Stderr || f.Kind == wire.Mark {
		return
	}
	hear := func(a *dialect.Annotation, entry int) {
		if s := k.sessions[a.Session]; s != nil {
			s.hear(f, a, here)
		}
		if a.Does(dialect.TellsProgress) && len(k.tokens) > 0 {
			token, by := dialect.NamedID(a.Method, dialect.ProgressToken, f.Dir, message(f, entry).Params)
			if c := k.tokens[tokenKey{by, kept(token)}]; c != nil {
				c.since = here
			}
		}
	}
	if f.Kind != wire.Batch {
		hear(&f.Annotation, 0)
		return
	}
	for i := range f.Entries {
		hear(&f.Entries[i], i)
	}
}

// session returns the state of a session, creating it if necessary.
func (k *work) session(of *trace.Session, here place) *session {
	if k.sessions == nil {
		k.sessions = map[string]*session{}
	}
	s := k.sessions[of.ID]
	if s == nil || s.of != of {
		s = &session{of: of, heard: here}
		k.sessions[of.ID] = s
	}
	return s
}

// release forgets a session if nothing is open in it.
func (k *work) release(s *session) {
	if !s.turns && s.setups == 0 && k.sessions[s.of.ID] == s {
		delete(k.sessions, s.of.ID)
	}
}

// idle reports whether the agent has nothing to do.
func (k *work) idle() bool { return k.owed == 0 && len(k.sessions) == 0 }

// forget forgets everything that is open.
func (k *work) forget() {
	for _, s := range k.sessions {
		s.turns = false
	}
	for _, c := range k.calls {
		c.over = true
	}
	*k = work{}
}

// name returns the name of the open work that began first.
func (k *work) name() string {
	var first subject
	var since place
	k.each(func(s subject) {
		if waits, ok := s.waits(); ok && (first == nil || waits.since.seq < since.seq) {
			first, since = s, waits.since
		}
	})
	if first == nil {
		return "a turn"
	}
	_, turn, details := first.names()
	if turn != 0 {
		return inTurn(turn)
	}
	return details[0]
}

// each calls do with everything that is open.
func (k *work) each(do func(subject)) {
	for _, s := range k.sessions {
		do(s)
	}
	for _, c := range k.calls {
		do(c)
	}
}
