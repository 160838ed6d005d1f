package dialect

import (
	"github.com/acptap/acptap/proxy/wire"
)

// acpCall handles a request or notification of ACP, or of a protocol not yet known.
func (t *Tracker) acpCall(s *step, method string) {
	m := row(ACP, method)
	role := m.role()
	if s.Dir == wire.ClientToAgent && s.ID != nil && role.Is(Prompts|Restores) {
		t.joining.open(t.text(wire.Get(s.Params, "sessionId")))
	}
	if role.Is(TellsUpdate) {
		t.update(s)
	} else {
		s.annotation.Session = t.addressed(s.Frame, m, s.Params)
	}
	if m != nil && m.Session == Inside {
		s.annotation.Update, _ = t.inner(s.Params)
	}
	if s.ID == nil {
		switch {
		case role.Is(CancelsRequest):
			t.cancelled(s, method)
		case role.Is(CancelsTurns):
			if _, foreign := s.annotation.Foreign(s.Params); !foreign { // a subagent's work is no turn
				t.cancelTurns(s.annotation.Session)
			}
		}
		return
	}
	c := &call{Seq: s.Seq, At: s.At, Method: method, Session: s.annotation.Session}
	switch {
	case role.Is(Initializes):
		t.acpOffer(s, c)
	case role.Is(Opens):
		t.setup(s, c, m)
	case role.Is(Prompts):
		t.prompted(s)
	case m == nil:
	case m.Session == ByServer:
		c.Servers.add(t.text(serverID(s.Params)))
	case role.Is(Disconnects):
		c.Link = t.text(wire.Get(s.Params, "connectionId"))
	case m.Session == Inside:
		c.Wrapped = s.annotation.Update
	case role.Is(AsksPermission):
		c.Rejects, c.Tool = rejects(wire.Get(s.Params, "options")), askedFor(s.Params)
		if call := wire.Get(s.Params, "toolCall"); call != nil { // often the first frame about the call
			t.runs(s, wire.Get(call, "toolCallId"), wire.Get(call, "status"))
		}
	case role.Is(AsksInput):
		c.Tool = askedFor(s.Params)
	}
	t.ask(s.Frame, s.ID, c)
}

// acpAnswer handles the response to c.
func (t *Tracker) acpAnswer(s *step, c *call) {
	method := c.Method
	if c.Wrapped != "" {
		method, s.annotation.Update = c.Wrapped, c.Wrapped
	}
	m := row(ACP, method)
	if m == nil {
		return
	}
	if made := m.Session == InResult || m.Session == FromParams; made && !s.failed() {
		s.annotation.Session = t.text(wire.Get(s.Result, "sessionId"))
	}
	if c.Wrapped != "" {
		return // the unwrapped frame, at its component, reports what happened
	}
	switch {
	case m.Role.Is(Initializes):
		t.acpSettle(s, c)
	case m.Role.Is(Opens):
		t.opened(s, c)
	case m.Role.Is(Closes):
		s.happens(SessionClosed)
	case m.Role.Is(Deletes):
		s.happens(SessionGone)
	case m.Role.Is(Prompts):
		t.accepted(s)
	}
	if s.failed() {
		return
	}
	switch {
	case m.Role.Is(Connects):
		if link := t.text(wire.Get(s.Result, "connectionId")); link != "" {
			for server := range c.Servers.all() {
				t.links.Set(link, server)
			}
		}
	case m.Role.Is(Disconnects):
		t.links.Drop(c.Link)
	case m.Role.Is(AsksPermission):
		t.permitted(s, c)
	case m.Role.Is(AsksInput):
		if s.elicited(); c.Tool != "" && s.annotation.Events&(PermissionRefused|PermissionDropped) != 0 {
			t.failed.Set(callOf{c.Session, c.Tool}, true)
		}
	}
}

// happens adds an event of a session if the response is a success.
func (s *step) happens(event Events) {
	if !s.failed() && s.annotation.Session != "" {
		s.annotation.Events |= event
	}
}

// setup handles a request that sets up a session.
func (t *Tracker) setup(s *step, c *call, m *Method) {
	if m.Role.Is(Restores) {
		t.restored.Set(c.Session, true)
	}
	if m.Session == FromParams {
		c.Parent, c.Session, s.annotation.Session = s.annotation.Session, "", ""
	}
	if cwd := wire.Get(s.Params, "cwd"); len(cwd) <= 4*maxName {
		c.Cwd = wire.Text(cwd)
	}
	for _, server := range wire.Elements(wire.Get(s.Params, "mcpServers")) {
		id := t.text(serverID(server))
		if wire.Text(wire.Get(server, "type")) != "acp" || id == "" {
			continue
		}
		if !c.Servers.add(id) {
			break
		}
		if c.Session != "" { // an agent may connect before it answers
			t.servers.Set(id, c.Session)
		}
	}
}

// opened handles the response to a setup.
func (t *Tracker) opened(s *step, c *call) {
	if s.failed() {
		// Agents answer an unknown id with various codes; only this one is unambiguous.
		if s.code() == -32002 && c.Session != "" {
			s.annotation.Events |= SessionLost
		}
		return
	}
	if s.annotation.Session == "" {
		return
	}
	s.annotation.Events |= SessionOpened
	t.joining.open(s.annotation.Session)
	s.facts.Cwd, s.facts.Parent, s.facts.Setup = c.Cwd, c.Parent, c.Seq
	for id := range c.Servers.all() {
		t.servers.Set(id, s.annotation.Session)
	}
}

// serverID returns the id of an MCP server that an ACP peer hosts. The RFD and the schema
// have different names for the key.
func serverID(object []byte) []byte {
	for _, key := range []string{"serverId", "acpId", "id"} {
		if id := wire.Get(object, key); id != nil {
			return id
		}
	}
	return nil
}

// update handles a session/update. Most frames of a tape are of this kind, so it reads
// their params only once.
func (t *Tracker) update(s *step) {
	var variant, state, title, call, status, stop, child, whole []byte
	id := ""
	r := wire.Inside(s.Params, '{')
	for name, ok := r.Name(); ok; name, ok = r.Name() {
		switch string(name) {
		case "sessionId":
			id = t.text(r.Value())
		case "update":
			began := r.Pos
			for name, value := range r.Members {
				switch string(name) {
				case "sessionUpdate":
					variant = value
				case "title":
					title = value
				case "state":
					state = value
				case "toolCallId":
					call = value
				case "status":
					status = value
				case "stopReason":
					stop = value
				case "sessionId", "subagentSessionId":
					child = value
				}
			}
			whole = r.Text[began:r.Pos]
		default:
			r.Value()
		}
	}
	s.annotation.Update = t.text(variant)
	if s.Dir == wire.AgentToClient && s.AtClient() && t.echoes(id, whole) {
		s.annotation.Events |= UpdateEchoed
	}
	s.annotation.Session = t.joining.whose(id)
	switch foreign := id != s.annotation.Session; s.annotation.Update {
	case "session_info_update":
		if !foreign {
			s.facts.Title = firstLine(title, maxName)
		}
	case "usage_update":
		if !foreign {
			s.facts.Cost = CostOf(wire.ValueAt(whole, "cost"))
		}
	case "tool_call", "tool_call_update":
		t.toolCall(s, call, status)
	case "state_update":
		if !foreign && string(state) == `"idle"` {
			t.idle(s, stop)
		}
	case "subagent_update", "subagent_spawned":
		t.joining.join(t.text(child), s.annotation.Session)
	}
}

// opening reports whether the client waits for the id of a new session.
func (t *Tracker) opening() bool {
	n := 0
	for _, p := range t.calls.Newest() {
		if n++; n > maxAtWork {
			break
		}
		if c := p.Client; c != nil && c.Session == "" && Does(c.Method, Opens) {
			return true
		}
	}
	return false
}

// addressed returns the session of a request or notification in f, found where the table
// puts it for that method. For a method in no table it tries params.sessionId.
func (t *Tracker) addressed(f *wire.Frame, m *Method, params []byte) string {
	where := InParams
	if m != nil {
		where = m.Session
	}
	switch where {
	case InParams, FromParams:
		return t.joining.whose(t.text(wire.Get(params, "sessionId")))
	case ByID:
		id, by := NamedID(m.Name, RequestID, f.Dir, params)
		return t.named(f, by, id)
	case InParamsOrByID:
		if session := t.text(wire.Get(params, "sessionId")); session != "" {
			return t.joining.whose(session)
		}
		id, by := NamedID(m.Name, RequestID, f.Dir, params)
		return t.named(f, by, id)
	case ByServer:
		session, _ := t.servers.Get(t.text(serverID(params)))
		return session
	case ByConnection:
		server, _ := t.links.Get(t.text(wire.Get(params, "connectionId")))
		session, _ := t.servers.Get(server)
		return session
	case Inside:
		method, params := t.inner(params)
		if inner := row(ACP, method); inner == nil || inner.Session != FromParams {
			return t.addressed(f, inner, params)
		}
	}
	return ""
}

// SessionPath returns the dotted path to the session id in an ACP request or notification,
// or "" if it has none. Ids of next-edit sessions do not count. Unknown methods use
// params.sessionId. For a message forwarded along a proxy chain, the path leads into the
// inner message.
func SessionPath(method string, params []byte) string {
	path := "params.sessionId"
	for range maxInside + 1 {
		m := row(ACP, method)
		switch {
		case m == nil, m.Session == InParams, m.Session == FromParams, m.Session == InParamsOrByID:
			return path
		case m.Session != Inside:
			return ""
		}
		path = "params." + path
		method, params = wire.Text(wire.Get(params, "method")), wire.Get(params, "params")
	}
	return ""
}

// maxInside limits how many components of a proxy chain may have passed a frame along;
// each wraps it once more.
const maxInside = 16

// inner unwraps a message that was passed along a proxy chain.
func (t *Tracker) inner(params []byte) (method string, inner []byte) {
	for range maxInside {
		method, params = t.text(wire.Get(params, "method")), wire.Get(params, "params")
		if !Wraps(method) {
			return method, params
		}
	}
	return "", nil
}
