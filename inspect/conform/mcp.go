package conform

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// What the Model Context Protocol keeps in the _meta of params and results.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// A mcpState is what is known of a connection of the Model Context Protocol beyond
// what both protocols share. Each subject has its part of it, in its own file.
type mcpState struct {
	lifecycle lifecycle
	requests  [2]mcpRequests // by the direction of the requests
	sessions  mcpSessions
	data      dataLayerState
	lists     mcpLists
}

func (m *mcpState) observe(s *Step) {
	own, others := s.requests(), s.asked()
	if s.Method == "initialize" && s.is(wire.Request) && !m.lifecycle.began {
		for i := range m.requests {
			m.requests[i].before, m.requests[i].ids = m.requests[i].ids, usedIDs{}
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
	m.data.observe(s)
	m.lists.observe(s)
	m.lifecycle.observe(s)
}

// A lifecycle is how a connection began.
type lifecycle struct {
	first       *Call  // the client's first message, if initialize had to come before it; nil: none
	opening     *Call  // the initialize that waits for its answer; nil: none
	began       bool   // there was an initialize
	answered    bool   // it was answered with success
	tooSoon     bool   // notifications/initialized came before the answer
	unconfirmed *Call  // an initialize that succeeded, until notifications/initialized comes; nil: none, or it needs none
	wentOn      *Call  // the client's first request since; nil: none
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

// sent takes what the client sent.
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

// confirm takes the success of initialize. Where it opens sessions, equal versions need
// no confirmation, and it may be sent again.
func (l *lifecycle) confirm(s *Step) {
	if s.Conn.Proposal == dialect.SEP1364A2 {
		if s.Call.Params == nil || text(get(s.Call.Params, "protocolVersion")) == text(s.Result("protocolVersion")) {
			return
		}
	} else if l.answered {
		return
	}
	if !l.tooSoon {
		l.unconfirmed, l.wentOn = s.Call, nil
	}
}

// probes reports whether a message may stand before initialize: it asks whether the
// server is there and what it speaks, or is made as the revision without initialize
// says, or belongs to a session of an earlier connection.
func probes(s *Step) bool {
	switch s.Method {
	case "ping", "server/discover", "notifications/cancelled":
		return true
	}
	return s.Envelope.Session != nil || s.Param("_meta", metaVersion) != nil
}

// showsMoreBefore reports whether a message is of something that may have been before the
// first initialize: of a session, which each initialize may open, or the answer to what
// a client may send before, such as ping.
func (s *Step) showsMoreBefore() bool {
	if s.Envelope.Session != nil {
		return true
	}
	return s.is(wire.Response) && s.Call == nil && !s.asked().ids.has(s.Envelope.ID)
}

// showsAnother reports whether a message is of another client than those before it. Where
// no id told to which connection the requests of HTTP belong, those of two clients may be
// on it, and each counts its ids from 0 or 1.
func (s *Step) showsAnother() bool {
	if !s.Conn.guessed || s.From != Client {
		return false
	}
	own := s.requests()
	switch {
	case s.is(wire.Request):
		return own.ids.has(s.Envelope.ID) && !own.refused.has(s.Envelope.ID)
	case s.is(wire.Response):
		return s.Call == nil && !s.asked().ids.has(s.Envelope.ID)
	}
	id, _ := dialect.NamedID(s.Method, dialect.RequestID, s.Frame.Dir, s.Envelope.Params)
	return id != nil && !own.ids.has(id) && !own.before.has(id)
}

// isLegacy reports whether the connection begins with initialize, or will if the server
// agrees.
func (s *Step) isLegacy() bool { return s.Conn.Dialect == dialect.MCPLegacy }

// serverKnowsRevision reports whether the server can be judged by the dialect. One of an
// older revision may answer requests that are made as 2026-07-28 says, and agree to
// nothing by it.
func (s *Step) serverKnowsRevision() bool {
	return s.Conn.Dialect != dialect.MCPModern || s.Conn.mcp.lifecycle.modern || s.Method == "server/discover"
}

// followsRevision reports whether a response is to be made by the dialect. A server may
// answer requests of several revisions on one connection, and what a request is made by
// says its _meta.
func (s *Step) followsRevision() bool {
	return s.serverKnowsRevision() && (s.Conn.Dialect != dialect.MCPModern || present(get(s.Call.Params, "_meta", metaVersion)))
}

var mcpRules = []Rule{
	{
		ID: "MCP101", Name: "mcp-initialize-first",
		Clauses: append(legacyFrom("", Violation, "MUST", "Lifecycle, Initialization", "basic/lifecycle#initialization"),
			Clause{Strength: Violation, Word: "MUST", Source: mcp("2025-11-25", "Lifecycle, Initialization", "basic/lifecycle#initialization")}),
		Fault: Client, Needs: Connection,
		On: []On{{Responses, "initialize", dialect.AgentSide}, {Kinds: Ends}},
		Text: Text{
			Asks:   "A client begins the connection with `initialize`; nothing else is possible before.",
			Finds:  "Another message is the client's first.",
			Spares: "`ping`, `server/discover` and whatever else is made as the revision 2026-07-28 says: so a client finds out what a server speaks.",
			Do:     "send `initialize` before anything else",
		},
		Check: mcpInitializeFirst,
	},
	{
		ID: "MCP102", Name: "mcp-too-early",
		Clauses: append(legacyFrom("", Warning, "SHOULD NOT", "Lifecycle, Initialization", "basic/lifecycle#initialization"),
			Clause{Strength: Warning, Word: "SHOULD NOT", Source: mcp("2025-11-25", "Lifecycle, Initialization", "basic/lifecycle#initialization")}),
		Fault: Client, Needs: Connection,
		On: []On{{Requests, "", dialect.ClientSide}},
		Text: Text{
			Asks:   "Until the server has answered `initialize`, the client asks for nothing but `ping`.",
			Finds:  "Another request between `initialize` and its answer.",
			Spares: "A further `initialize`, as the second alternative of SEP-1364 has it.",
			Do:     "wait for the answer to `initialize` before you send other requests",
		},
		Check: mcpTooEarly,
	},
	{
		ID: "MCP103", Name: "not-initialized",
		Clauses: legacyFrom("", Violation, "MUST", "Lifecycle, Initialization", "basic/lifecycle#initialization"),
		Fault:   Client, Needs: Connection,
		On: []On{{Notifications, "notifications/initialized", dialect.ClientSide}, {Kinds: Ends}},
		Text: Text{
			Asks:   "When `initialize` has succeeded, the client sends `notifications/initialized`, and goes on then.",
			Finds:  "A client that goes on without it; with less strength, one that sends it only after other requests.",
			Spares: "A client that ends the connection instead, or sends it before the answer; in the second alternative of SEP-1364 equal versions on both sides.",
			Do:     "send `notifications/initialized` as the first message after the answer to `initialize`",
		},
		Check: notInitialized,
	},
	{
		ID: "MCP105", Name: "server-gate",
		Clauses: negotiated(),
		Fault:   Client, Needs: Hello,
		On: requestsOf(dialect.ClientSide, "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read",
			"resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel"),
		Text: Text{
			Asks:   "Both sides use only what was negotiated: a client asks for what the server has declared among its capabilities.",
			Finds:  "A request for tools, resources, subscriptions, prompts, completions or logging that the server has not declared.",
			Spares: "Completions in the revision 2024-11-05, which has no capability for them.",
			Do:     "look for the capability in the answer to `initialize` before you send the request",
		},
		Check: serverGate,
	},
	{
		ID: "MCP106", Name: "client-gate",
		Clauses: negotiated(),
		Fault:   Agent, Needs: Hello,
		On: requestsOf(dialect.AgentSide, "sampling/createMessage", "elicitation/create", "roots/list"),
		Text: Text{
			Asks:   "Both sides use only what was negotiated: a server asks for what the client has declared among its capabilities.",
			Finds:  "A request for sampling, for an elicitation or its mode, or for roots that the client has not declared.",
			Spares: "An empty `elicitation`, which declares the mode `form`.",
			Do:     "look for the capability in the params of `initialize` before you send the request",
		},
		Check: clientGate,
	},
	{
		ID: "MCP114", Name: "server-asks",
		Clauses: []Clause{{For: modern, Strength: Violation, Word: "MUST NOT", Source: mcp("2026-07-28", "stdio, Receiving Messages", "basic/transports/stdio#receiving-messages")}},
		Fault:   Agent, Needs: Frame,
		On: []On{{Requests, "", dialect.AgentSide}},
		Text: Text{
			Asks:   "A server writes no requests: what it needs from the client it says in a result of the type `input_required`.",
			Finds:  "A request of the server.",
			Spares: "A server that has not shown that it knows this revision; and the client's answer, which has its cause in the request.",
			Do:     "answer the client's request with `resultType` `input_required` and `inputRequests`",
		},
		Check: func(s *Step, r *Report) {
			if !s.serverKnowsRevision() {
				return
			}
			r.Tried()
			if row, known := specified(s); known && isWrongSide(s, &row) {
				return // wrong-side says it
			}
			r.Add(Evidence{Text: "asked the client for " + s.Method})
		},
	},
	{
		ID: "MCP115", Name: "request-meta",
		Clauses: []Clause{{For: modern, Strength: Violation, Word: "MUST", Source: mcp("2026-07-28", "Overview, _meta", "basic#meta")}},
		Fault:   Client, Needs: Frame,
		On: []On{{Requests, "", dialect.ClientSide}, {Responses, "", dialect.AgentSide}},
		Text: Text{
			Asks:  "Each request of a client says in its `_meta` which revision it is made by, and what the client can do: a server remembers neither.",
			Finds: "A request without `io.modelcontextprotocol/protocolVersion` or `io.modelcontextprotocol/clientCapabilities`.",
			Do:    "put both into `params._meta` of each request",
		},
		Check: requestMeta,
	},
	{
		ID: "MCP116", Name: "result-type",
		Clauses: []Clause{{For: modern, Strength: Violation, Word: "MUST", Source: mcp("2026-07-28", "Overview, Result Responses", "basic#result-responses")}},
		Fault:   Agent, Needs: Pair,
		On: []On{{Responses, "", dialect.AgentSide}},
		Text: Text{
			Asks:   "Each result says of which type it is.",
			Finds:  "A result without a `resultType` that is a string.",
			Spares: "A server that has not shown that it knows this revision; the answer to a request that does not say that it is made by it; the answers that make and delete sessions of the data layer.",
			Do:     "put `\"resultType\":\"complete\"` into the result",
		},
		Check: resultType,
	},
}

// negotiated returns the clauses of what was negotiated; the revision 2025-06-18 made a
// MUST of the SHOULD.
func negotiated() []Clause {
	const title, page = "Lifecycle, Operation", "basic/lifecycle#operation"
	return append(legacyFrom("2025-06-18", Violation, "MUST", title, page), legacyFrom("", Warning, "SHOULD", title, page)...)
}

// requestsOf returns requests of one side.
func requestsOf(side dialect.Side, methods ...string) []On {
	var on []On
	for _, m := range methods {
		on = append(on, On{Requests, m, side})
	}
	return on
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
	r.Tried()
	if !probes(s) {
		r.Add(Evidence{Text: "asked for " + s.Method + " before initialize (frame " + number(l.opening.Seq) + ") was answered", Because: []uint64{l.opening.Seq}})
	}
}

func notInitialized(s *Step, r *Report) {
	l := &s.Conn.mcp.lifecycle
	switch {
	case l.unconfirmed == nil:
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

func serverGate(s *Step, r *Report) {
	if s.Method == "completion/complete" && s.Conn.Version < "2025-03-26" {
		return
	}
	r.Tried()
	if said, known := s.said(dialect.AgentSide); known && !offersAny(s.Method, dialect.AgentSide, said) {
		r.Add(Evidence{Text: "asked for " + s.Method + ", which the server has not declared", Because: []uint64{s.Conn.hello.answered.Seq}})
	}
}

func clientGate(s *Step, r *Report) {
	r.Tried()
	said, known := s.said(dialect.ClientSide)
	if !known {
		return
	}
	what := s.Method
	offered := offersAny(s.Method, dialect.ClientSide, said)
	if s.Method == "elicitation/create" && offered && s.Conn.Version >= "2025-11-25" {
		form, url := get(said, "capabilities", "elicitation", "form"), get(said, "capabilities", "elicitation", "url")
		if text(s.Param("mode")) == "url" {
			what, offered = "an elicitation of the mode url", present(url)
		} else {
			what, offered = "an elicitation of the mode form", present(form) || !present(url)
		}
	}
	if !offered {
		r.Add(Evidence{Text: "asked for " + what + ", which the client has not declared", Because: []uint64{s.Conn.hello.asked.Seq}})
	}
}

// offersAny reports whether one side offers what allows a method in what it said of
// itself.
func offersAny(method string, side dialect.Side, said []byte) bool {
	return slices.ContainsFunc(dialect.Requires(dialect.MCPLegacy, method), func(c dialect.Capability) bool {
		return c.Side == side && c.Offered(dialect.MCPLegacy, said)
	})
}

// requestMeta looks at requests as they come; at those from before the dialect was
// settled, when they are answered.
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
		if present(get(params, "_meta", key)) {
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
	if !s.Succeeded() || !s.followsRevision() || creates(s.Method) || deletes(s.Method) {
		return
	}
	r.Tried()
	if v := s.Result("resultType"); !isString(v) {
		r.Add(Evidence{Text: "answered " + s.Method + " without a resultType", Path: "resultType", Want: "a string", Got: string(v)})
	}
}
