package shim

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// toAgent passes on a client's message with the agent's session id.
func (s *Shim) toAgent(m message, out []wire.Frame) []wire.Frame {
	path := dialect.SessionPath(string(m.env.Method), m.env.Params)
	if path == "" {
		return append(out, m.Frame)
	}
	id := m.param(path[len("params."):])
	c := s.byClientID[id.Text()]
	switch {
	case !id.IsString():
		return append(out, m.Frame)
	case c == nil && s.lookup.unsure() && !s.opensSessions():
		return s.park(m, out) // the store may have the session
	case c == nil && (s.byAgentID[id.Text()] != nil || s.lookup.used[id.Text()] && !s.opensSessions()):
		// To the agent, the id would mean a different session.
		if m.env.ID == nil {
			return out
		}
		return append(out, m.fail(notFound(id.Text())))
	case c == nil:
		return append(out, m.Frame)
	case c.opening.active && m.does(dialect.CancelsTurns) && len(c.opening.fromClient) == 0:
		return out // no turn is under way, and no prompt waits
	case c.opening.active:
		return s.holdUntilOpen(c, m, out)
	}
	s.followSetting(c, m)
	if c.clientID != c.agentID {
		m = m.patched(path, wire.Quote(c.agentID))
	}
	return append(out, m.Frame)
}

// toClient passes on an agent's message with the client's session id.
func (s *Shim) toClient(m message, out []wire.Frame) []wire.Frame {
	method := string(m.env.Method)
	role := dialect.RoleOf(dialect.ACP, method)
	path := dialect.SessionPath(method, m.env.Params)
	switch {
	case role.Is(dialect.CancelsRequest):
		return s.onCancelRequest(m, out)
	case path == "":
		return append(out, m.Frame)
	}
	if role.Is(dialect.AsksInput) {
		m = s.translateElicitation(m)
	}
	// Nearly all frames are updates that need no change. For those, only two short
	// fields are copied.
	id := m.param(path[len("params."):])
	c := s.byAgentID[id.Text()]
	switch {
	case !id.IsString():
		return append(out, m.Frame)
	case (c == nil || c.closed) && role.Is(dialect.TellsUpdate) && s.mayClaim(id.Text()) && s.held.room(m):
		s.setups.unclaimed = append(s.setups.unclaimed, s.held.take(m)) // the answer to the setup may follow
		return out
	case c == nil:
		return append(out, m.Frame)
	case c.closed:
		if m.env.ID != nil {
			out = append(out, m.fail(notFound(c.agentID)))
		}
		return out
	}
	if c.watched != nil && role.Is(dialect.TellsUpdate) {
		out = c.watched.noteUpdate(m, out)
	}
	// A held message comes back here when it is released, and followUpdate sees it then.
	// Withheld history must not take up room, and ask must hear of each update, so
	// followUpdate sees it at once.
	if c.opening.holdsAgent() && !c.withholdHistory {
		return s.holdUntilOpen(c, m, out)
	}
	if role.Is(dialect.TellsUpdate) && !c.followUpdate(&m) {
		return out
	}
	if c.opening.holdsAgent() {
		return s.holdUntilOpen(c, m, out)
	}
	if c.shown != nil {
		m = c.withShownIDs(m, s.dialect)
	}
	if c.clientID != c.agentID {
		m = m.patched(path, wire.Quote(c.clientID))
	}
	return append(out, m.Frame)
}

// translateError returns a response from the agent. If it is an error that names a
// session, the result uses the client's id.
func (s *Shim) translateError(m message) message {
	const path = "error.data.sessionId"
	if m.env.Error == nil {
		return m
	}
	if c := s.byAgentID[m.env.Error.Get("data.sessionId").Text()]; c != nil && c.clientID != c.agentID {
		return m.patched(path, wire.Quote(c.clientID))
	}
	return m
}

// translateElicitation returns an elicitation. If it concerns a request of the shim, the
// result refers to the client's request that the shim is serving.
func (s *Shim) translateElicitation(m message) message {
	id, by := dialect.NamedID(string(m.env.Method), dialect.RequestID, m.Dir, m.env.Params)
	asked := string(id)
	if by != wire.ClientToAgent || s.asked.open[asked] == nil {
		return m
	}
	for _, r := range s.served {
		if r.asking == asked {
			return m.patched("params.requestId", r.message.env.ID)
		}
	}
	return m
}
