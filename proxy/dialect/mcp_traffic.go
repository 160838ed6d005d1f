package dialect

import (
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// Keys in the _meta of MCP's params and results.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaClient       = metaPrefix + "clientInfo"
	metaServer       = metaPrefix + "serverInfo"
	metaSession      = metaPrefix + "session"
	metaTask         = metaPrefix + "related-task"
	metaSubscription = metaPrefix + "subscriptionId" // id of the subscriptions/listen request
	metaToken        = "progressToken"
)

// A meta holds the relevant members of a _meta, each as JSON.
type meta struct {
	version, client, server, session, task, subscription, token []byte
}

func readMeta(object []byte) meta {
	var m meta
	for key, value := range wire.Members(wire.Get(object, "_meta")) {
		switch string(key) {
		case metaVersion:
			m.version = value
		case metaClient:
			m.client = value
		case metaServer:
			m.server = value
		case metaSession:
			m.session = value
		case metaTask:
			m.task = value
		case metaSubscription:
			m.subscription = value
		case metaToken:
			m.token = value
		}
	}
	return m
}

// mcpCall handles a request or notification of MCP.
func (t *Tracker) mcpCall(s *step, method string) {
	meta, m := readMeta(s.Params), row(MCP, method)
	s.annotation.Session = t.mcpSession(s, m, meta)
	if s.ID == nil {
		if m.role().Is(CancelsRequest) {
			t.cancelled(s, method)
		}
		return
	}
	c := &call{Seq: s.Seq, At: s.At, Method: method, Session: s.annotation.Session}
	switch {
	case m.role().Is(Initializes):
		t.mcpOffer(s, c)
	case wire.Present(meta.version), m.role().Is(Discovers):
		t.modernOffer(c, meta)
	}
	if wire.Present(meta.token) {
		key := callKey{Dir: s.Dir, ID: IDKey(meta.token)}
		if c.Session == "" {
			t.tokens.Drop(key)
		} else {
			t.tokens.Set(key, c.Session)
		}
	}
	t.ask(s.Frame, s.ID, c)
}

// cancelled handles a notification by which a sender cancels its request. In MCP the
// other side should no longer answer, but may have done so already.
func (t *Tracker) cancelled(s *step, method string) {
	id, by := NamedID(method, RequestID, s.Dir, s.Params)
	c := t.open(s.Frame, by, id)
	if c == nil || t.conn.Protocol == MCP && Does(c.Method, Initializes) { // which must not be cancelled
		return
	}
	s.annotation.Request = c.Seq
	s.annotation.Events |= RequestCancelled
	p := t.waiting(s.Frame, by, id)
	if t.conn.Protocol == MCP && by == wire.ClientToAgent && p.Agent != nil { // in ACP an answer follows
		late := t.answersLate(s.Frame, p.Agent)
		if tookTooLong(s.Params) {
			late = Hung
		}
		if s.annotation.Events |= slowEvents[late]; late == Hung {
			s.facts.Outcome = noAnswer(c.Method)
		}
	}
	for _, c := range []*call{p.Client, p.Agent} {
		if c != nil {
			c.Cancelled = true
		}
	}
	if Does(c.Method, Prompts) {
		t.cancelTurns(c.Session)
	}
}

// tookTooLong reports whether the reason for a cancellation is that a client's own limit had
// passed: "Request timed out" in the SDKs.
func tookTooLong(params wire.JSON) bool {
	reason := params.Get("reason").Text()
	reason = strings.ToLower(reason[:min(len(reason), 200)])
	return strings.Contains(reason, "timed out") || strings.Contains(reason, "timeout")
}

// mcpSession returns the session of a request or notification: the one it names, or else
// that of what it refers to.
func (t *Tracker) mcpSession(s *step, m *Method, meta meta) string {
	if session := t.text(wire.Get(meta.session, "sessionId")); session != "" {
		t.proves(DataLayer)
		return session
	}
	session, in := t.text(s.Envelope.Session), where(m)
	if session == "" && (in == InParams || in == InResult) {
		session = t.text(wire.Get(s.Params, "sessionId"))
	}
	if session != "" {
		switch {
		case m == nil:
		case m.Role.Is(Initializes), m.Proposals.Has(SEP1364A2):
			t.proves(SEP1364A2)
		case m.Proposals.Has(SEP1364A1):
			t.proves(SEP1364A1)
		}
		return session
	}
	if in == ByID || wire.Present(meta.task) || wire.Present(meta.subscription) {
		return t.sessionByID(s, string(s.Method))
	}
	return ""
}

// sessionByID returns the session of what a message refers to by id.
func (t *Tracker) sessionByID(s *step, method string) string {
	if id, by := NamedID(method, RequestID, s.Dir, s.Params); id != nil {
		return t.named(s.Frame, by, id)
	}
	if id, by := NamedID(method, ProgressToken, s.Dir, s.Params); id != nil {
		session, _ := t.tokens.Get(callKey{Dir: by, ID: IDKey(id)})
		return session
	}
	id, by := NamedID(method, TaskID, s.Dir, s.Params)
	session, _ := t.tasks.Get(callKey{Dir: by, ID: IDKey(id)})
	return session
}

func where(m *Method) Where {
	if m == nil {
		return Nowhere
	}
	return m.Session
}

// mcpAnswer handles the response to c.
func (t *Tracker) mcpAnswer(s *step, c *call) {
	if s.failed() {
		if s.code() == sessionUnknown {
			t.lost(s)
		}
		return
	}
	switch role := RoleOf(MCP, c.Method); {
	case role.Is(Initializes):
		t.mcpSettle(s, c)
	case role.Is(Opens):
		t.created(s, c)
	case role.Is(Closes):
		s.happens(SessionClosed)
	case role.Is(Deletes):
		s.happens(SessionGone)
	default:
		t.used(s, c, role)
	}
}

// used handles the response to a request that is not about sessions.
func (t *Tracker) used(s *step, c *call, role Role) {
	if own := t.text(s.Envelope.Session); own != "" {
		s.annotation.Session = own
	}
	switch {
	case role.Is(CallsTool | GetsTaskResult):
		if string(wire.Get(s.Result, "isError")) == "true" {
			s.annotation.Events |= ToolFailed
		}
	case role.Is(AsksInput):
		s.elicited()
	}
	meta := readMeta(s.Result)
	if wire.Present(meta.session) {
		t.proves(DataLayer)
		expires := wire.Get(meta.session, "expiresAt")
		if wire.Present(expires) || wire.Present(wire.Get(meta.session, "state")) {
			s.annotation.Events |= StateRenewed
			s.facts.Expires = t.text(expires)
		}
	}
	if c.Offer == MCPModern {
		t.modernSettle(s, meta)
	}
	if s.annotation.Session != "" {
		if task := wire.Get(s.Result, "task", "taskId"); wire.Present(task) {
			t.tasks.Set(callKey{Dir: s.Dir, ID: IDKey(task)}, s.annotation.Session)
		}
	}
}

// created handles the response to session/create or sessions/create, which belong to
// different proposals.
func (t *Tracker) created(s *step, c *call) {
	session := wire.Get(s.Result, "session")
	id := t.text(wire.Get(session, "sessionId"))
	if id != "" {
		t.proves(DataLayer)
		s.facts.Expires = t.text(wire.Get(session, "expiresAt"))
	} else {
		if id = t.text(wire.Get(s.Result, "sessionId")); id == "" {
			id = t.text(s.Envelope.Session)
		}
		if id == "" {
			return
		}
		t.proves(SEP1364A1)
	}
	s.annotation.Session = id
	s.annotation.Events |= SessionOpened
	s.facts.Setup = c.Seq
}

// sessionUnknown is the code in the data-layer draft. Revision 2026-07-28 has since
// reserved its range.
const sessionUnknown = -32043

// lost handles an error saying that the session is unknown.
func (t *Tracker) lost(s *step) {
	if s.annotation.Session == "" {
		s.annotation.Session = t.text(wire.Get(s.Error, "data", "sessionId"))
	}
	if s.annotation.Session != "" {
		s.annotation.Events |= SessionLost
	}
}

// stated returns the session that a response to an unknown request names.
func (t *Tracker) stated(s *step) string {
	for _, id := range [][]byte{
		wire.Get(s.Result, "_meta", metaSession, "sessionId"),
		s.Envelope.Session,
		wire.Get(s.Error, "data", "sessionId"),
	} {
		if session := t.text(id); session != "" {
			return session
		}
	}
	return ""
}

// inHeader assigns a message without a session to the one named in the connection's
// headers.
func (t *Tracker) inHeader(s *step) {
	if s.annotation.Session == "" && t.conn.Protocol == MCP {
		s.annotation.Session = t.header
	}
}

// proves records that a proposal is in use. The first proof counts.
func (t *Tracker) proves(o Proposal) {
	if !t.proven {
		t.conn.Proposal, t.proven = o, true
	}
}
