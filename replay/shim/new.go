package shim

import (
	"crypto/rand"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
)

// sessionNew takes the client's session/new, which is passed on.
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

// uniqueSize is how long an id is that nobody gives twice, such as a UUID. Those
// of agents that count are shorter.
const uniqueSize = 20

// sessionMade takes the agent's answer to session/new, or to session/fork. The
// protocol wants the id to be unique, but agents that forget their sessions count
// from one again. Then the client gets another id for the session, or two sessions
// would become one in the store. It also gets one if the agent forgets its sessions,
// the id is short, and the store was not read in time.
func (s *Shim) sessionMade(m message, out []wire.Frame) []wire.Frame {
	id := get(m.env.Result, "sessionId")
	if m.env.Error != nil || id.Type != gjson.String {
		return append(out, m.Frame)
	}
	if s.unsure() && s.kept.room(m) {
		s.setupBegan()
		return s.park(m, out)
	}
	agent := id.Str
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

// alias returns another name for a session, where the agent gives it one that
// an earlier session has.
func alias(agent string) string {
	var b [4]byte
	rand.Read(b[:])
	return fmt.Sprintf("%s~%x", agent, b)
}
