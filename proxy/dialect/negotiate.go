package dialect

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// guess returns the protocol of a request or notification, if it can tell. Both protocols
// have the method initialize: ACP's versions are numbers, MCP's are dates. An ACP client
// may send a wrong version, but only ACP has the members clientCapabilities and info.
func guess(method string, params []byte) Protocol {
	acp, mcp := row(ACP, method), row(MCP, method)
	switch initializes := mcp.role().Is(Initializes); {
	case acp != nil && mcp == nil:
		return ACP
	case mcp != nil && acp == nil, !initializes && wire.Present(wire.Get(params, "_meta", metaVersion)):
		return MCP
	case !initializes:
		return AnyProtocol
	}
	version := wire.Get(params, "protocolVersion")
	_, counted := wire.Integer(version)
	switch {
	case counted, wire.Present(wire.Get(params, "clientCapabilities")), wire.Present(wire.Get(params, "info")):
		return ACP
	case quoted(version) && dated(version[1:len(version)-1]),
		wire.Present(wire.Get(params, "capabilities")) && wire.Present(wire.Get(params, "clientInfo")):
		return MCP
	case wire.Present(version):
		return ACP // "1.0.0" in old implementations
	}
	return AnyProtocol
}

// dated reports whether a version begins with a date, like 2025-11-25.
func dated(version []byte) bool {
	_, err := time.Parse(time.DateOnly, string(version[:min(len(version), len(time.DateOnly))]))
	return err == nil
}

// acpOffer handles the params of ACP's initialize.
func (t *Tracker) acpOffer(s *step, c *call) {
	version, ok := wire.Integer(wire.Get(s.Params, "protocolVersion"))
	info, clientInfo := wire.Get(s.Params, "info"), wire.Get(s.Params, "clientInfo")
	capabilities, clientCapabilities := wire.Get(s.Params, "capabilities"), wire.Get(s.Params, "clientCapabilities")
	switch {
	case !ok || version < 0:
		c.Offer = Unknown
	case version <= 1:
		c.Offer = ACPv1
	case wire.Present(info):
		c.Offer = ACPv2
	case wire.Present(clientInfo):
		c.Offer = ACPv2Early
	default: // undecided: then the response's default applies
		c.Offer = ACPv2
	}
	if t.settled {
		return // a connection speaks one version; only the response may correct it
	}
	t.conn.Dialect = c.Offer
	t.conn.Hybrid = wire.Present(info) && (wire.Present(clientInfo) || wire.Present(clientCapabilities)) || wire.Present(capabilities) && wire.Present(clientCapabilities)
	if !wire.Present(info) {
		info = clientInfo
	}
	t.client(info)
}

// acpSettle handles the response to ACP's initialize. The version alone does not
// distinguish the two drafts of version 2; their keys do.
func (t *Tracker) acpSettle(s *step, c *call) {
	if s.failed() {
		return
	}
	result := s.Result
	version, ok := wire.Integer(wire.Get(result, "protocolVersion"))
	info, agentInfo := wire.Get(result, "info"), wire.Get(result, "agentInfo")
	capabilities, agentCapabilities := wire.Get(result, "capabilities"), wire.Get(result, "agentCapabilities")
	switch {
	case ok && version <= 1, !ok && (c.Offer == ACPv1 || wire.Present(agentCapabilities)):
		t.conn.Dialect = ACPv1
	case wire.Present(info):
		t.conn.Dialect = ACPv2
	case wire.Present(agentInfo), marksEarly(wire.Get(capabilities, "session")):
		t.conn.Dialect = ACPv2Early
	case c.Offer == ACPv2Early:
		t.conn.Dialect = ACPv2Early
	default:
		t.conn.Dialect = ACPv2
	}
	if wire.Present(info) && (wire.Present(agentInfo) || wire.Present(agentCapabilities)) || wire.Present(capabilities) && wire.Present(agentCapabilities) {
		t.conn.Hybrid = true
	}
	if !wire.Present(info) {
		info = agentInfo
	}
	t.agent(info)
	t.conn.Version = t.version(wire.Get(result, "protocolVersion"))
	t.settle(s)
}

// client records what a client says about itself.
func (t *Tracker) client(info []byte) {
	c := &t.conn
	c.Client, c.ClientTitle, c.ClientVersion = t.text(wire.Get(info, "name")), t.text(wire.Get(info, "title")), t.text(wire.Get(info, "version"))
}

// agent records what an agent or a server says about itself.
func (t *Tracker) agent(info []byte) {
	c := &t.conn
	c.Agent, c.AgentTitle, c.AgentVersion = t.text(wire.Get(info, "name")), t.text(wire.Get(info, "title")), t.text(wire.Get(info, "version"))
}

// marksEarly reports whether the agent's session capabilities have a key that only the
// early draft of version 2 has.
func marksEarly(session []byte) bool {
	return slices.ContainsFunc([]string{"load", "list", "resume", "close"}, func(key string) bool { return wire.Present(wire.Get(session, key)) })
}

// version returns a protocolVersion as sent, without quotes.
func (t *Tracker) version(value []byte) string {
	if quoted(value) {
		return t.text(value)
	}
	return t.name(bytes.TrimSpace(value))
}

// mcpOffer handles the params of MCP's initialize.
func (t *Tracker) mcpOffer(s *step, c *call) {
	c.Offer = MCPLegacy
	if t.settled && t.conn.Dialect == MCPLegacy {
		return // SEP-1364: it may be sent again
	}
	t.conn.Dialect = MCPLegacy
	client := wire.Get(s.Params, "clientInfo")
	t.client(client)
}

// mcpSettle handles the response to MCP's initialize, which in the second alternative of
// SEP-1364 creates or confirms a session.
func (t *Tracker) mcpSettle(s *step, c *call) {
	t.conn.Dialect = MCPLegacy
	t.conn.Version = t.version(wire.Get(s.Result, "protocolVersion"))
	if server := wire.Get(s.Result, "serverInfo"); wire.Present(server) {
		t.agent(server)
	}
	t.settle(s)
	session := t.text(s.Envelope.Session)
	if session != "" {
		t.proves(SEP1364A2)
	} else {
		session = t.header
	}
	if session != "" {
		s.annotation.Session = session
		s.annotation.Events |= SessionOpened
		s.facts.Setup = c.Seq
	}
	switch sessions := wire.Get(s.Result, "capabilities", "sessions"); {
	case t.proven, !wire.Present(sessions):
	case wire.Get(sessions, "required") != nil:
		t.conn.Proposal = SEP1364A1
	default:
		t.conn.Proposal = DataLayer
	}
}

// httpHead handles the head of a request or response. Its headers say what only messages
// say over stdio (MCP 2025-11-25, Streamable HTTP; the RFD of ACP over HTTP). On a tape
// that begins mid-session they may be the only source.
func (t *Tracker) httpHead(h *wire.HTTP) {
	for _, field := range h.Headers {
		value := []byte(field.Value)
		switch strings.ToLower(field.Name) {
		case "mcp-session-id":
			t.overHTTP(MCP)
			t.header = t.name(value)
		case "mcp-protocol-version":
			t.overHTTP(MCP)
			if !t.settled && t.conn.Dialect == Unknown && dated(value) {
				t.conn.Version = t.name(value)
				t.conn.Dialect = dialectOf(t.conn.Version)
			}
		case "acp-connection-id":
			t.overHTTP(ACP)
		}
	}
}

// firstModern is the first revision of MCP without initialize.
const firstModern = "2026-07-28"

// overHTTP records the protocol that a header belongs to.
func (t *Tracker) overHTTP(p Protocol) {
	if t.given == AnyProtocol && t.conn.Protocol == AnyProtocol {
		t.conn.Protocol = p
	}
}

// modernOffer handles a request in the form of revision 2026-07-28. A client may try it
// before it falls back to initialize.
func (t *Tracker) modernOffer(c *call, meta meta) {
	if t.settled {
		if t.conn.Dialect == MCPModern {
			c.Offer = MCPModern // its answer may name the server
		}
		return
	}
	c.Offer = MCPModern
	t.conn.Dialect = MCPModern
	if wire.Present(meta.version) {
		t.conn.Version = t.version(meta.version)
	}
	if wire.Present(meta.client) {
		t.client(meta.client)
	}
}

// modernSettle handles the first success of such a request, and the server's name
// wherever it is given.
func (t *Tracker) modernSettle(s *step, meta meta) {
	server := meta.server
	if !wire.Present(server) {
		server = wire.Get(s.Result, "serverInfo")
	}
	if t.text(wire.Get(server, "name")) != "" {
		t.agent(server)
	}
	if !t.settled {
		t.conn.Dialect = MCPModern
		t.settle(s)
	}
}

// settle records that the dialect is certain from here on.
func (t *Tracker) settle(s *step) {
	t.settled = true
	t.conn.Protocol = t.conn.Dialect.Protocol()
	s.annotation.Events |= Initialized
}
