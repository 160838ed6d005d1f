package conform

import (
	"slices"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// The session proposals, both closed: they are judged where they are in use.
const (
	sepURL       = "https://github.com/modelcontextprotocol/modelcontextprotocol/issues/1364"
	dataLayerURL = "https://github.com/modelcontextprotocol/transports-wg/pull/20"
)

func sep1364(section string) Source { return Source{"SEP-1364 (closed), " + section, sepURL} }

// alternative returns the clauses of one alternative of SEP-1364.
func alternative(p dialect.Proposal) []Clause {
	section := "Alternative 1"
	if p == dialect.SEP1364A2 {
		section = "Alternative 2"
	}
	return []Clause{{For: legacy, Proposal: p, Strength: Violation, Source: sep1364(section)}}
}

// mcpSessions are what is known of the sessions of a connection by a proposal.
type mcpSessions struct {
	given   bounded.Map[string, Moment] // by the server: when
	ended   bounded.Map[string, Moment] // deleted or terminated: when that was confirmed
	created bool                        // the client has asked for one
	class   serverClass
}

// A serverClass says whether a server of the second alternative of SEP-1364 has
// sessions.
type serverClass uint8

const (
	unknownClass serverClass = iota
	sessionless
	sessionful
)

// A mcpSession is what is known of a session beyond what both protocols share.
type mcpSession struct {
	client, server []byte // an object with the capabilities for it; nil: not known
	states         sessionStates
}

// maxCapabilities is how many bytes of the capabilities for a session are kept.
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

// initialized takes the success of initialize, which makes a session in the second
// alternative.
func (m *mcpSessions) initialized(s *Step) {
	id := text(s.Envelope.Session)
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
	x.setup = setup{method: s.Method, asked: s.Call.Moment, done: s.Moment()}
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
	value := get(said, "capabilities")
	if said == nil || len(value) > maxCapabilities {
		return nil
	}
	if value == nil {
		return []byte(`{}`)
	}
	return slices.Concat([]byte(`{"capabilities":`), value, []byte(`}`))
}

// said returns what a side has said of itself to those who act in this step: for their
// session where that has its own capabilities, else when it said hello. known is false
// if that cannot be told.
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

// creates reports whether a method makes a session. The text of SEP-1364 has two names
// for it.
func creates(method string) bool { return method == "session/create" || method == "sessions/create" }

func deletes(method string) bool { return method == "session/delete" || method == "sessions/delete" }

// required reports whether the server of the first alternative asks for a session with
// each message.
func (s *Step) required() bool {
	return string(get(s.Conn.hello.agent, "capabilities", "sessions", "required")) == "true"
}

// ended returns when a session was deleted or terminated on this connection; ok is false
// if it was not.
func (s *Step) ended(id string) (at Moment, ok bool) {
	if id == "" {
		return Moment{}, false
	}
	return s.Conn.mcp.sessions.ended.Get(id)
}

var (
	createRequests  = []On{{Requests, "session/create", dialect.ClientSide}, {Requests, "sessions/create", dialect.ClientSide}}
	createResponses = []On{{Responses, "session/create", dialect.AgentSide}, {Responses, "sessions/create", dialect.AgentSide}}
	clientMessages  = []On{{Requests | Notifications, "", dialect.ClientSide}}
	serverResponses = []On{{Responses, "", dialect.AgentSide}}
)

var mcpSessionRules = []Rule{
	{
		ID: "MCP301", Name: "id-form",
		Clauses: append(alternative(dialect.SEP1364A1), alternative(dialect.SEP1364A2)...),
		Fault:   Sender, Needs: Frame,
		On: []On{{Kinds: Messages}},
		Text: Text{
			Asks:   "The `sessionId` of a message is a string.",
			Finds:  "A `sessionId` beside `method` or `result` that is none; with least strength, one that is `null`.",
			Spares: "A message without it.",
			Do:     "leave `sessionId` out where there is no session",
		},
		Check: idForm,
	},
	{
		ID: "MCP302", Name: "create-gate",
		Clauses: []Clause{{For: legacy, Strength: Violation, Source: sep1364("Alternative 1")}},
		Fault:   Client, Needs: Hello, About: "session/create",
		On: createRequests,
		Text: Text{
			Asks:   "A client makes sessions only where the server has declared the capability `sessions`.",
			Finds:  "`session/create` without the capability.",
			Spares: "`sessions/create`, where the other messages do not show that it is of this proposal.",
			Do:     "look for `sessions` among the server's capabilities before you send `session/create`",
		},
		Check: createGate,
	},
	{
		ID: "MCP304", Name: "required-create",
		Clauses: alternative(dialect.SEP1364A1),
		Fault:   Client, Needs: Connection,
		On: clientMessages,
		Text: Text{
			Asks:   "Where the server says that sessions are `required`, the client makes one before anything else.",
			Finds:  "Another message after `initialize`, and no session was asked for yet.",
			Spares: "`ping`, `notifications/initialized`, cancellation; a message with the id of a session, which may be from an earlier connection.",
			Do:     "send `session/create` right after `notifications/initialized`",
		},
		Check: func(s *Step, r *Report) { withoutID(s, r, false) },
	},
	{
		ID: "MCP305", Name: "required-id",
		Clauses: alternative(dialect.SEP1364A1),
		Fault:   Client, Needs: Connection,
		On: clientMessages,
		Text: Text{
			Asks:   "Where the server says that sessions are `required`, each request and notification names one.",
			Finds:  "A message without a `sessionId`.",
			Spares: "`ping`, `notifications/initialized`, cancellation, and what makes and deletes sessions.",
			Do:     "put `sessionId` beside `method`",
		},
		Check: func(s *Step, r *Report) { withoutID(s, r, true) },
	},
	{
		ID: "MCP306", Name: "not-refused",
		Clauses: alternative(dialect.SEP1364A1),
		Fault:   Agent, Needs: Connection,
		On: serverResponses,
		Text: Text{
			Asks:   "Where the server says that sessions are `required`, it refuses a request without a valid one.",
			Finds:  "Success for a request without a `sessionId`, or with one that had been deleted before.",
			Spares: "`initialize`, `ping`, and what makes and deletes sessions; ids that this connection has not seen.",
			Do:     "answer such a request with an error",
		},
		Check: notRefused,
	},
	{
		ID: "MCP307", Name: "create-id",
		Clauses: alternative(dialect.SEP1364A1),
		Fault:   Agent, Needs: Connection,
		On: createResponses,
		Text: Text{
			Asks:   "The answer to `session/create` names the session: a new one, or the one that the client asked for.",
			Finds:  "No id that is a string, one that was given before, or another one than asked for.",
			Spares: "An id beside `result` instead of in it.",
			Do:     "put a new `sessionId` into the result, or that of the request if it has one",
		},
		Check: createID,
	},
	{
		ID: "MCP308", Name: "foreign-id",
		Clauses: alternative(dialect.SEP1364A1),
		Fault:   Client, Needs: Connection,
		On: clientMessages,
		Text: Text{
			Asks:   "A client uses only sessions that the server knows.",
			Finds:  "The id of a session that was deleted on this connection.",
			Spares: "Ids that this connection has not seen, and deleting once more; what crossed the answer.",
			Do:     "forget the id when `session/delete` has succeeded",
		},
		Check: foreignID,
	},
	{
		ID: "MCP311", Name: "sessionless",
		Clauses: alternative(dialect.SEP1364A2),
		Fault:   Agent, Needs: Connection,
		On: []On{{Responses, "initialize", dialect.AgentSide}},
		Text: Text{
			Asks:  "A server without sessions refuses `initialize` with a `sessionId`.",
			Finds: "Success without a `sessionId` for an `initialize` that has one.",
			Do:    "answer with an error, or with the session",
		},
		Check: sessionlessServer,
	},
	{
		ID: "MCP312", Name: "new-id",
		Clauses: alternative(dialect.SEP1364A2),
		Fault:   Agent, Needs: Connection,
		On: []On{{Responses, "initialize", dialect.AgentSide}},
		Text: Text{
			Asks:  "A server with sessions answers `initialize` without a `sessionId` with a new one.",
			Finds: "The id of an earlier session, or none though the server has given one before.",
			Do:    "make a new id for each `initialize` without one",
		},
		Check: newID,
	},
	{
		ID: "MCP313", Name: "same-id",
		Clauses: alternative(dialect.SEP1364A2),
		Fault:   Agent, Needs: Pair,
		On: []On{{Responses, "initialize", dialect.AgentSide}},
		Text: Text{
			Asks:  "A server answers `initialize` with a `sessionId` with the same one, or with an error.",
			Finds: "Success with another id.",
			Do:    "answer with the id of the request, or with an error if it is not valid",
		},
		Check: sameID,
	},
	{
		ID: "MCP314", Name: "terminated",
		Clauses: alternative(dialect.SEP1364A2),
		Fault:   Sender, Needs: Connection,
		On: []On{{Requests, "terminate", dialect.ClientSide}, {Responses, "", dialect.AgentSide}},
		Text: Text{
			Asks:   "`terminate` ends a session that is alive, and its id is not valid any more then.",
			Finds:  "`terminate` without an id or with one that was terminated; success for a request with such an id.",
			Spares: "Ids that this connection has not seen; what crossed the answer to `terminate`.",
			Do:     "refuse a terminated id, and do not send it",
		},
		Check: terminated,
	},
}

func idForm(s *Step, r *Report) {
	id := s.Envelope.Session
	if id == nil {
		return
	}
	r.Tried()
	switch {
	case string(id) == "null" && s.required() && !s.is(wire.Response): // required-id says it
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
	r.Tried()
	if !present(get(s.Conn.hello.agent, "capabilities", "sessions")) {
		r.Add(Evidence{Text: "called " + s.Method + ", and the server has not declared sessions", Because: []uint64{s.Conn.hello.answered.Seq}})
	}
}

// needsNoSession reports whether a message may come without a session where these are
// required.
func needsNoSession(method string) bool {
	switch method {
	case "initialize", "ping", "notifications/initialized", "notifications/cancelled":
		return true
	}
	return creates(method) || deletes(method)
}

// withoutID looks at messages after the client has asked for a session, or before.
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
	if !s.Succeeded() || s.Call == nil {
		return
	}
	r.Tried()
	id, asked := s.Result("sessionId"), s.Call.Session
	if id == nil {
		id = s.Envelope.Session
	}
	given, again := s.Conn.mcp.sessions.given.Get(text(id))
	e := Evidence{Path: "sessionId", Got: string(id), Of: s.Call}
	switch {
	case text(id) == "":
		e.Text, e.Want = "answered "+s.Method+" without an id", "a string that is not empty"
	case asked != "" && text(id) != asked:
		e.Text, e.Want = "answered with another session than the client asked for (frame "+number(s.Call.Seq)+")", asked
	case asked == "" && again:
		e.Text, e.Because = "gave an id a second time (frame "+number(given.Seq)+")", []uint64{given.Seq}
	default:
		return
	}
	r.Add(e)
}

func foreignID(s *Step, r *Report) {
	id := text(s.Envelope.Session)
	if id == "" || deletes(s.Method) {
		return
	}
	r.Tried()
	if at, over := s.ended(id); over && s.HasRead(at) {
		r.Add(Evidence{Text: "sent " + s.Method + " in a session that it had deleted (frame " + number(at.Seq) + ")", Path: "sessionId", Got: id, Because: []uint64{at.Seq}})
	}
}

func sessionlessServer(s *Step, r *Report) {
	if s.Call == nil || s.Call.Session == "" {
		return
	}
	r.Tried()
	if s.Succeeded() && s.Envelope.Session == nil {
		r.Add(Evidence{Text: "accepted initialize with a sessionId (frame " + number(s.Call.Seq) + "), and answered without one", Because: []uint64{s.Call.Seq}, Of: s.Call})
	}
}

func newID(s *Step, r *Report) {
	if s.Call == nil || s.Call.Session != "" || !s.Succeeded() {
		return
	}
	r.Tried()
	m := &s.Conn.mcp.sessions
	given, again := m.given.Get(text(s.Envelope.Session))
	switch {
	case again:
		r.Add(Evidence{Text: "gave an id a second time (frame " + number(given.Seq) + ")", Path: "sessionId", Got: string(s.Envelope.Session), Because: []uint64{given.Seq}, Of: s.Call})
	case m.class == sessionful && s.Envelope.Session == nil:
		r.Add(Evidence{Text: "answered initialize without a sessionId, though it has sessions", Path: "sessionId", Of: s.Call})
	}
}

func sameID(s *Step, r *Report) {
	if s.Call.Session == "" || !s.Succeeded() || !isString(s.Envelope.Session) {
		return
	}
	r.Tried()
	if id := text(s.Envelope.Session); id != s.Call.Session {
		r.Add(Evidence{Text: "answered initialize with another session than asked for (frame " + number(s.Call.Seq) + ")", Path: "sessionId", Want: s.Call.Session, Got: id, Because: []uint64{s.Call.Seq}})
	}
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
	if s.Succeeded() && (s.Method != "initialize" || text(s.Envelope.Session) == s.Call.Session) { // else same-id says it
		r.Add(Evidence{Text: "accepted " + s.Method + " in a session that was terminated (frame " + number(at.Seq) + ")", Because: []uint64{at.Seq, s.Call.Seq}, Of: s.Call})
	}
}
