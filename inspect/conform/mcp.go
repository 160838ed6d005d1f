package conform

import (
	"strconv"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Model Context Protocol keys in the _meta of params and results.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// A mcpState holds what is known about an MCP connection beyond what both protocols
// share. Each subject's part is in its own file.
type mcpState struct {
	lifecycle lifecycle
	requests  [2]mcpRequests // by the direction of the requests
	sessions  mcpSessions
	lists     mcpLists
}

func (m *mcpState) observe(s *Step) {
	own, others := s.requests(), s.asked()
	if s.Method == "initialize" && s.is(wire.Request) && !m.lifecycle.began {
		for i := range m.requests {
			m.requests[i].before, m.requests[i].ids = m.requests[i].ids, hashes{}
		}
	}
	switch {
	case s.is(wire.Response):
		others.observe(s)
	case s.is(wire.Request):
		own.observe(s)
	case s.is(wire.Notification):
		others.tokens.told(s)
	}
	m.sessions.observe(s)
	observeState(s)
	m.lists.observe(s)
	m.lifecycle.observe(s)
}

// A lifecycle records how a connection began.
type lifecycle struct {
	first       *Call  // the client's first message if it came before initialize and must not; nil: none
	opening     *Call  // the unanswered initialize; nil: none
	began       bool   // there was an initialize
	answered    bool   // an initialize succeeded
	tooSoon     bool   // notifications/initialized preceded the answer
	unconfirmed *Call  // a successful initialize not yet followed by notifications/initialized; nil: none, or it needs none
	wentOn      *Call  // the client's first request since then; nil: none
	settled     Moment // when the dialect was settled; Seq 0: not yet
	modern      bool   // the server has shown that it knows the revision without initialize
}

func (l *lifecycle) observe(s *Step) {
	switch {
	case s.From == Client && (s.is(wire.Request) || s.is(wire.Notification)):
		l.sent(s)
	case s.Call == nil:
	case s.Method == "initialize":
		l.opening = nil
		if s.Succeeded() {
			l.confirm(s)
			l.answered = true
		}
	case s.Succeeded() && (s.Method == "server/discover" || s.Result("resultType") != nil):
		l.modern = true
	}
	if s.Conn.settled && l.settled.Seq == 0 {
		l.settled = s.Moment()
	}
}

// sent handles what the client sent.
func (l *lifecycle) sent(s *Step) {
	switch {
	case s.Method == "initialize" && s.is(wire.Request):
		l.began = true
		l.opening = s.asCall()
	case s.Method == "notifications/initialized":
		l.tooSoon = l.opening != nil
		l.unconfirmed, l.wentOn = nil, nil
	case !l.began && l.first == nil && !probes(s):
		l.first = s.asCall()
	case l.unconfirmed != nil && l.wentOn == nil && s.is(wire.Request) && s.Method != "ping":
		l.wentOn = s.asCall()
	}
}

// confirm handles the success of initialize. If initialize opens sessions, equal versions
// need no confirmation, and initialize may be sent again.
func (l *lifecycle) confirm(s *Step) {
	if s.Conn.Proposal == dialect.SEP1364A2 {
		if s.Call.Params == nil || wire.Text(wire.Get(s.Call.Params, "protocolVersion")) == wire.Text(s.Result("protocolVersion")) {
			return
		}
	} else if l.answered {
		return
	}
	if !l.tooSoon {
		l.unconfirmed, l.wentOn = s.Call, nil
	}
}

// probes reports whether a message may precede initialize: it asks whether the server is
// there and what it speaks, follows the revision without initialize, or belongs to a
// session from an earlier connection.
func probes(s *Step) bool {
	switch s.Method {
	case "ping", "server/discover", "notifications/cancelled":
		return true
	}
	return s.Envelope.Session != nil || s.Param("_meta", metaVersion) != nil
}

// showsMoreBefore reports whether a message shows that the connection began before the
// first initialize: it belongs to a session, which each initialize may open, or answers
// something that a client may send earlier, such as ping.
func (s *Step) showsMoreBefore() bool {
	if s.Envelope.Session != nil {
		return true
	}
	return s.is(wire.Response) && s.Call == nil && !s.asked().ids.has(string(s.Envelope.ID))
}

// showsAnother reports whether a message comes from a different client than earlier ones.
// If no ID tells which connection HTTP requests belong to, two clients may share one,
// each counting its IDs from 0 or 1.
func (s *Step) showsAnother() bool {
	if !s.Conn.guessed || s.From != Client {
		return false
	}
	own := s.requests()
	switch {
	case s.is(wire.Request):
		return own.ids.has(string(s.Envelope.ID)) && !own.refused.has(string(s.Envelope.ID))
	case s.is(wire.Response):
		return s.Call == nil && !s.asked().ids.has(string(s.Envelope.ID))
	}
	id, _ := dialect.NamedID(s.Method, dialect.RequestID, s.Frame.Dir, s.Envelope.Params)
	return id != nil && !own.ids.has(string(id)) && !own.before.has(string(id))
}

// isLegacy reports whether the connection starts with initialize, or will if the server
// agrees.
func (s *Step) isLegacy() bool { return s.Conn.Dialect == dialect.MCPLegacy }

// serverKnowsRevision reports whether the server can be judged by the dialect. A server
// of an older revision may answer requests of 2026-07-28 without having agreed to
// anything.
func (s *Step) serverKnowsRevision() bool {
	return s.Conn.Dialect != dialect.MCPModern || s.Conn.mcp.lifecycle.modern || s.Method == "server/discover"
}

// followsRevision reports whether a response must follow the dialect. A server may answer
// requests of several revisions on one connection; the _meta of each request names its
// revision.
func (s *Step) followsRevision() bool {
	return s.serverKnowsRevision() && (s.Conn.Dialect != dialect.MCPModern || wire.Present(wire.Get(s.Call.Params, "_meta", metaVersion)))
}

var mcpRules = checks{
	{"MCP101", mcpInitializeFirst},
	{"MCP102", mcpTooEarly},
	{"MCP103", notInitialized},
	{"MCP105", serverGate},
	{"MCP106", clientGate},
	{"MCP114", serverAsks},
	{"MCP115", requestMeta},
	{"MCP116", resultType},
	{"MCP117", reservedCode},
	{"MCP119", inputRequiredEmpty},
	{"MCP205", notificationGate},
}

func serverAsks(s *Step, r *Report) {
	if !s.serverKnowsRevision() {
		return
	}
	r.Tried()
	if row, known := specified(s); known && isWrongSide(s, &row) {
		return // wrong-side reports it
	}
	r.Add(Evidence{Text: "asked the client for " + s.Method})
}

func mcpInitializeFirst(s *Step, r *Report) {
	l := &s.Conn.mcp.lifecycle
	atEnd := s.Call == nil
	switch {
	case atEnd && (s.Conn.settled || s.Conn.Proposal == dialect.DataLayer), !atEnd && (!s.isLegacy() || l.answered):
		return
	case atEnd && !l.began && l.first == nil:
		return
	}
	r.Tried()
	if l.first != nil {
		r.Add(Evidence{Text: "began with " + l.first.Method, Seq: l.first.Seq, Of: l.first})
	}
}

func mcpTooEarly(s *Step, r *Report) {
	l := &s.Conn.mcp.lifecycle
	if l.opening == nil || l.answered || !s.isLegacy() || s.Method == "initialize" {
		return
	}
	r.Judge(!probes(s), Evidence{Text: "asked for " + s.Method + " before initialize (frame " + number(l.opening.Seq) + ") was answered", Because: []uint64{l.opening.Seq}})
}

func notInitialized(s *Step, r *Report) {
	l := &s.Conn.mcp.lifecycle
	switch {
	case l.unconfirmed == nil:
	case s.is(wire.Request):
		if s.Method != "ping" {
			r.Undecided()
		}
	case s.Method == "notifications/initialized":
		r.Tried()
		if l.wentOn != nil {
			r.Add(Evidence{
				Text:     "sent notifications/initialized only after " + l.wentOn.Method + " (frame " + number(l.wentOn.Seq) + ")",
				Because:  []uint64{l.unconfirmed.Seq, l.wentOn.Seq},
				Strength: Warning,
			})
		}
	case l.wentOn != nil:
		r.Tried()
		r.Add(Evidence{
			Text: "went on with " + l.wentOn.Method + ", and never sent notifications/initialized",
			Seq:  l.wentOn.Seq, Of: l.wentOn, Because: []uint64{l.unconfirmed.Seq},
		})
	}
}

func notificationGate(s *Step, r *Report) {
	side := dialect.AgentSide
	because := s.Conn.hello.answered.Seq
	if s.From == Client {
		side, because = dialect.ClientSide, s.Conn.hello.asked.Seq
	}
	said, known := s.said(side)
	r.Judge(known && !dialect.Allowed(dialect.MCPLegacy, side, s.Method, said), Evidence{Text: "sent " + s.Method + " without having declared it", Because: []uint64{because}})
}

func serverGate(s *Step, r *Report) {
	if s.Method == "completion/complete" && s.Conn.Version < "2025-03-26" {
		return
	}
	said, known := s.said(dialect.AgentSide)
	r.Judge(known && !dialect.Allowed(dialect.MCPLegacy, dialect.AgentSide, s.Method, said), Evidence{Text: "asked for " + s.Method + ", which the server has not declared", Because: []uint64{s.Conn.hello.answered.Seq}})
}

func clientGate(s *Step, r *Report) {
	r.Tried()
	said, known := s.said(dialect.ClientSide)
	if !known {
		return
	}
	what := s.Method
	offered := dialect.Allowed(dialect.MCPLegacy, dialect.ClientSide, s.Method, said)
	if s.Method == "elicitation/create" && offered && s.Conn.Version >= "2025-11-25" {
		form, url := wire.Get(said, "capabilities", "elicitation", "form"), wire.Get(said, "capabilities", "elicitation", "url")
		if wire.Text(s.Param("mode")) == "url" {
			what, offered = "an elicitation of the mode url", wire.Present(url)
		} else {
			what, offered = "an elicitation of the mode form", wire.Present(form) || !wire.Present(url)
		}
	}
	if !offered {
		r.Add(Evidence{Text: "asked for " + what + ", which the client has not declared", Because: []uint64{s.Conn.hello.asked.Seq}})
	}
}

// requestMeta judges requests when they arrive, and those from before the dialect was
// settled when they are answered.
func requestMeta(s *Step, r *Report) {
	params, call := s.Envelope.Params, (*Call)(nil)
	if s.is(wire.Response) {
		call = s.Call
		if settled := s.Conn.mcp.lifecycle.settled; call == nil || call.Params == nil || settled.Seq != 0 && call.Seq > settled.Seq {
			return
		}
		params = call.Params
	}
	r.Tried()
	for _, key := range []string{metaVersion, metaCapabilities} {
		if wire.Present(wire.Get(params, "_meta", key)) {
			continue
		}
		e := Evidence{Text: "sent " + s.Method + " without " + key, Path: "_meta"}
		if call != nil {
			e.Seq, e.Of = call.Seq, call
		}
		r.Add(e)
		return
	}
}

func resultType(s *Step, r *Report) {
	if !s.followsRevision() || creates(s.Method) || deletes(s.Method) {
		return
	}
	r.Tried()
	switch v := s.Result("resultType"); {
	case !isString(v):
		r.Add(Evidence{Text: "answered " + s.Method + " without a resultType", Path: "resultType", Want: "a string", Got: string(v)})
	case wire.Text(v) != "complete" && wire.Text(v) != inputRequired && !s.mayExtend():
		r.Add(Evidence{Text: "answered " + s.Method + " with another resultType than the revision has, and neither side has declared an extension", Path: "resultType", Want: "complete or " + inputRequired, Got: string(v)})
	}
}

const inputRequired = "input_required" // the resultType of a result that asks for further input

// mayExtend reports whether an extension may define a response's contents: one side has
// declared extensions, or it is unknown whether it has.
func (s *Step) mayExtend() bool {
	return s.Call.Params == nil || wire.Present(wire.Get(s.Call.Params, "_meta", metaCapabilities, "extensions")) ||
		wire.Present(wire.Get(s.Conn.hello.agent, "capabilities", "extensions"))
}

func reservedCode(s *Step, r *Report) {
	if s.Envelope.Error == nil || !s.followsRevision() {
		return
	}
	r.Tried()
	switch c := code(s.Envelope.Error); {
	case c == -32020, c == -32021, c == -32022: // defined by the revision
	case c == sessionUnknown && s.Conn.Proposal == dialect.DataLayer:
	case c == -32002, -32099 <= c && c <= -32020:
		r.Add(Evidence{Text: "answered " + s.Method + " with a code that is reserved", Path: "error.code", Got: strconv.FormatInt(c, 10)})
	}
}

func inputRequiredEmpty(s *Step, r *Report) {
	if wire.Text(s.Result("resultType")) != inputRequired || !s.followsRevision() {
		return
	}
	asks := wire.Present(s.Result("inputRequests")) || wire.Present(s.Result("requestState"))
	r.Judge(!asks, Evidence{Text: "answered " + s.Method + " that input is required, and not which", Want: "inputRequests or requestState"})
}
