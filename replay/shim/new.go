package shim

import (
	"crypto/rand"
	"fmt"

	"github.com/acptap/acptap/proxy/wire"
)

// sessionNew notes the client's session/new, which is then passed on.
func (s *Shim) sessionNew(m message) {
	if m.env.ID != nil {
		s.expect(m.env.ID, &call{answered: func(m message, out []wire.Frame) []wire.Frame {
			s.newRequests--
			return s.sessionMade(m, out)
		}, forgotten: func() { s.newRequests-- }})
		s.newRequests++
		s.lookUpIDs()
	}
}

// uniqueSize is the length from which on an id is considered unique, such as a UUID. The
// ids of agents that count are shorter.
const uniqueSize = 20

// sessionMade handles the agent's answer to session/new or session/fork. The protocol
// requires unique ids, but agents that forget their sessions count from one again. If an
// earlier session has the id, the client gets another id for the new one: otherwise the
// two would become one in the store. It also gets another id if the agent cannot open
// earlier sessions, the id is short, and the store was not read in time.
func (s *Shim) sessionMade(m message, out []wire.Frame) []wire.Frame {
	id := get(m.env.Result, "sessionId")
	if m.env.Error != nil || !id.IsString() {
		return append(out, m.Frame)
	}
	if s.unsure() && s.kept.room(m) {
		s.setupBegan()
		return s.park(m, out)
	}
	agent := id.Text()
	client := agent
	if s.knownIDs[agent] || s.byAgent[agent] != nil || s.sessions[agent] != nil || s.querying && !s.opens() && len(agent) < uniqueSize {
		client = alias(agent)
	}
	c := s.addSession(client)
	if !s.opens() {
		s.inBackground(func() { s.acquireLease(c, s.Agent) })
	}
	if client != agent {
		m = m.patched("result.sessionId", c.clientJSON)
	}
	s.bind(c, agent, m.env.Result)
	return s.release(c, append(out, m.Frame))
}

// alias returns another id for a session that the agent gives the id of an earlier one.
func alias(agent string) string {
	var b [4]byte
	rand.Read(b[:])
	return fmt.Sprintf("%s~%x", agent, b)
}
