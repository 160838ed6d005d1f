package conform

import (
	"slices"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// mcpSessions holds the sessions of a connection that follows one of the proposals.
type mcpSessions struct {
	given   bounded.Map[string, Moment] // when the server assigned each ID
	ended   bounded.Map[string, Moment] // when the end of each was confirmed
	created bool                        // the client has asked for one
	class   serverClass
}

// A serverClass says whether a server following the second alternative of SEP-1364 has
// sessions.
type serverClass uint8

const (
	unknownClass serverClass = iota
	sessionless
	sessionful
)

// A mcpSession holds what is known about a session beyond what both protocols share.
type mcpSession struct {
	client, server []byte // an object with the session's capabilities; nil: unknown
	states         sessionStates
}

// maxCapabilities limits the capabilities kept per session, in bytes.
const maxCapabilities = 1 << 10

func (m *mcpSessions) observe(s *Step) {
	switch {
	case s.is(wire.Request):
		m.created = m.created || creates(s.Method)
	case s.Call == nil || !s.Succeeded():
	case s.Method == "initialize":
		m.initialized(s)
	case creates(s.Method):
		m.give(s, s.About.Session)
		if x := s.Conn.session(s.About.Session); x != nil {
			x.mcp = mcpSession{client: capabilities(s.Call.Params), server: capabilities(s.Conn.hello.agent)}
		}
	case deletes(s.Method), s.Method == "terminate":
		m.end(s, s.Call.Session)
	}
}

// initialized handles the success of initialize, which creates a session in the second
// alternative.
func (m *mcpSessions) initialized(s *Step) {
	id := wire.Text(s.Envelope.Session)
	if m.class == unknownClass && s.Call.Session == "" {
		m.class = sessionless
		if id != "" {
			m.class = sessionful
		}
	}
	if id == "" {
		return
	}
	m.give(s, id)
	x := s.Conn.enter(id)
	x.setup = setup{method: s.Method, done: s.Moment()}
	x.lost = s.Call.lost
	x.mcp = mcpSession{client: capabilities(s.Call.Params), server: capabilities(s.Envelope.Result)}
}

func (m *mcpSessions) give(s *Step, id string) {
	if id == "" {
		return
	}
	m.given.Limit = maxSessions
	m.given.Set(id, s.Moment())
	m.ended.Drop(id)
}

func (m *mcpSessions) end(s *Step, id string) {
	if id == "" {
		return
	}
	m.ended.Limit = maxSessions
	m.ended.Set(id, s.Moment())
	s.Conn.sessions.Drop(id)
}

func capabilities(said []byte) []byte {
	value := wire.Get(said, "capabilities")
	if said == nil || len(value) > maxCapabilities {
		return nil
	}
	if value == nil {
		return []byte(`{}`)
	}
	return slices.Concat([]byte(`{"capabilities":`), value, []byte(`}`))
}

// said returns what a side told the other about itself that applies to this step: for
// their session if it has its own capabilities, otherwise in initialize. known is false
// if that cannot be determined.
func (s *Step) said(side dialect.Side) (said []byte, known bool) {
	said = s.Conn.hello.agent
	if side == dialect.ClientSide {
		said = s.Conn.hello.client
	}
	if !s.sessionsHaveIDs() || s.Conn.Proposal == dialect.SEP1364A1 && side == dialect.AgentSide {
		return said, true
	}
	if s.Session == nil {
		return nil, false
	}
	said = s.Session.mcp.server
	if side == dialect.ClientSide {
		said = s.Session.mcp.client
	}
	return said, said != nil
}

// sessionsHaveIDs reports whether the connection may carry several sessions, as in
// SEP-1364.
func (s *Step) sessionsHaveIDs() bool {
	return s.Conn.Proposal == dialect.SEP1364A1 || s.Conn.Proposal == dialect.SEP1364A2
}

// creates reports whether a method creates a session. SEP-1364 has two names for it.
func creates(method string) bool { return method == "session/create" || method == "sessions/create" }

func deletes(method string) bool { return method == "session/delete" || method == "sessions/delete" }

// required reports whether a server of the first alternative requires a session with each
// message.
func (s *Step) required() bool {
	return string(wire.Get(s.Conn.hello.agent, "capabilities", "sessions", "required")) == "true"
}

// ended returns when a session was deleted or terminated on this connection; ok is false
// if it was not.
func (s *Step) ended(id string) (at Moment, ok bool) {
	if id == "" {
		return Moment{}, false
	}
	return s.Conn.mcp.sessions.ended.Get(id)
}

var mcpSessionRules = checks{
	{"MCP301", idForm},
	{"MCP302", createGate},
	{"MCP304", requiredCreate},
	{"MCP305", requiredID},
	{"MCP306", notRefused},
	{"MCP307", createID},
	{"MCP308", foreignID},
	{"MCP311", sessionlessServer},
	{"MCP312", newID},
	{"MCP313", sameID},
	{"MCP314", terminated},
}

func requiredCreate(s *Step, r *Report) { withoutID(s, r, false) }

func requiredID(s *Step, r *Report) { withoutID(s, r, true) }

func idForm(s *Step, r *Report) {
	id := s.Envelope.Session
	if id == nil {
		return
	}
	r.Tried()
	switch {
	case string(id) == "null" && s.required() && !s.is(wire.Response): // required-id reports it
	case string(id) == "null":
		r.Add(Evidence{Text: "sent a sessionId that is null", Path: "sessionId", Strength: Note})
	case !isString(id):
		r.Add(Evidence{Text: "sent a sessionId that is no string", Path: "sessionId", Want: "a string", Got: string(id)})
	}
}

func createGate(s *Step, r *Report) {
	if s.Method == "sessions/create" && s.Conn.Proposal != dialect.SEP1364A1 {
		return
	}
	r.Judge(!wire.Present(wire.Get(s.Conn.hello.agent, "capabilities", "sessions")), Evidence{Text: "called " + s.Method + ", and the server has not declared sessions", Because: []uint64{s.Conn.hello.answered.Seq}})
}

// needsNoSession reports whether a method works without a session where sessions are
// required.
func needsNoSession(method string) bool {
	switch method {
	case "initialize", "ping", "notifications/initialized", "notifications/cancelled":
		return true
	}
	return creates(method) || deletes(method)
}

// withoutID judges messages from before the client asked for a session or, if created is
// set, from after that.
func withoutID(s *Step, r *Report, created bool) {
	if !s.required() || s.Conn.hello.answered.Seq == 0 || needsNoSession(s.Method) || s.Conn.mcp.sessions.created != created {
		return
	}
	r.Tried()
	switch {
	case s.Envelope.Session != nil && string(s.Envelope.Session) != "null":
	case created:
		r.Add(Evidence{Text: "sent " + s.Method + " without a sessionId", Path: "sessionId", Because: []uint64{s.Conn.hello.answered.Seq}})
	default:
		r.Add(Evidence{Text: "sent " + s.Method + " before it made a session", Because: []uint64{s.Conn.hello.answered.Seq}})
	}
}

func notRefused(s *Step, r *Report) {
	if s.Call == nil || !s.required() || needsNoSession(s.Call.Method) || s.Call.Seq < s.Conn.hello.answered.Seq {
		return
	}
	r.Tried()
	if !s.Succeeded() {
		return
	}
	switch at, over := s.ended(s.Call.Session); {
	case s.Call.Session == "":
		r.Add(Evidence{Text: "accepted " + s.Method + " without a sessionId (frame " + number(s.Call.Seq) + ")", Because: []uint64{s.Call.Seq}, Of: s.Call})
	case over && s.Call.Seq > at.Seq:
		r.Add(Evidence{Text: "accepted " + s.Method + " in a session that was deleted (frame " + number(at.Seq) + ")", Because: []uint64{at.Seq, s.Call.Seq}, Of: s.Call})
	}
}

func createID(s *Step, r *Report) {
	r.Tried()
	id, asked := s.Result("sessionId"), s.Call.Session
	if id == nil {
		id = s.Envelope.Session
	}
	given, again := s.Conn.mcp.sessions.given.Get(wire.Text(id))
	e := Evidence{Path: "sessionId", Got: string(id), Of: s.Call}
	switch {
	case wire.Text(id) == "":
		e.Text, e.Want = "answered "+s.Method+" without an id", "a string that is not empty"
	case asked != "" && wire.Text(id) != asked:
		e.Text, e.Want = "answered with another session than the client asked for (frame "+number(s.Call.Seq)+")", asked
	case asked == "" && again:
		e.Text, e.Because = "gave an id a second time (frame "+number(given.Seq)+")", []uint64{given.Seq}
	default:
		return
	}
	r.Add(e)
}

func foreignID(s *Step, r *Report) {
	id := wire.Text(s.Envelope.Session)
	if id == "" || deletes(s.Method) {
		return
	}
	at, over := s.ended(id)
	r.Judge(over && s.HasRead(at), Evidence{Text: "sent " + s.Method + " in a session that it had deleted (frame " + number(at.Seq) + ")", Path: "sessionId", Got: id, Because: []uint64{at.Seq}})
}

func sessionlessServer(s *Step, r *Report) {
	if s.Call == nil || s.Call.Session == "" {
		return
	}
	r.Judge(s.Succeeded() && s.Envelope.Session == nil, Evidence{Text: "accepted initialize with a sessionId (frame " + number(s.Call.Seq) + "), and answered without one", Because: []uint64{s.Call.Seq}, Of: s.Call})
}

func newID(s *Step, r *Report) {
	if s.Call.Session != "" {
		return
	}
	r.Tried()
	m := &s.Conn.mcp.sessions
	given, again := m.given.Get(wire.Text(s.Envelope.Session))
	switch {
	case again:
		r.Add(Evidence{Text: "gave an id a second time (frame " + number(given.Seq) + ")", Path: "sessionId", Got: string(s.Envelope.Session), Because: []uint64{given.Seq}, Of: s.Call})
	case m.class == sessionful && s.Envelope.Session == nil:
		r.Add(Evidence{Text: "answered initialize without a sessionId, though it has sessions", Path: "sessionId", Of: s.Call})
	}
}

func sameID(s *Step, r *Report) {
	if s.Call.Session == "" || !isString(s.Envelope.Session) {
		return
	}
	id := wire.Text(s.Envelope.Session)
	r.Judge(id != s.Call.Session, Evidence{Text: "answered initialize with another session than asked for (frame " + number(s.Call.Seq) + ")", Path: "sessionId", Want: s.Call.Session, Got: id, Because: []uint64{s.Call.Seq}})
}

func terminated(s *Step, r *Report) {
	if s.is(wire.Request) {
		r.Tried()
		id := s.About.Session
		switch at, over := s.ended(id); {
		case id == "":
			r.Add(Evidence{Text: "called terminate without the id of a session", Path: "sessionId"})
		case over && s.HasRead(at):
			r.Add(Evidence{Text: "called terminate for a session that had ended (frame " + number(at.Seq) + ")", Path: "sessionId", Got: id, Because: []uint64{at.Seq}})
		}
		return
	}
	if s.Call == nil || s.Method == "terminate" {
		return
	}
	at, over := s.ended(s.Call.Session)
	if !over || s.Call.Seq < at.Seq {
		return
	}
	r.Tried()
	if s.Succeeded() && (s.Method != "initialize" || wire.Text(s.Envelope.Session) == s.Call.Session) { // otherwise same-id reports it
		r.Add(Evidence{Text: "accepted " + s.Method + " in a session that was terminated (frame " + number(at.Seq) + ")", Because: []uint64{at.Seq, s.Call.Seq}, Of: s.Call})
	}
}
