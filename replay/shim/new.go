package shim

import (
	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
)

// setup takes the client's session/new, which is passed on.
func (s *Shim) setup(m message) {
	if m.env.ID != nil {
		s.calls[string(m.env.ID)] = &call{answered: func(m message, out []wire.Frame) []wire.Frame {
			s.making--
			return s.made(m, out)
		}}
		s.making++
		s.lookUp()
	}
}

// made takes the agent's answer to session/new, or to session/fork. The
// protocol wants the id to be unique, but agents that forget their sessions
// count: then the client gets another name for it, or two sessions would become
// one in the store.
func (s *Shim) made(m message, out []wire.Frame) []wire.Frame {
	id := gjson.GetBytes(m.env.Result, "sessionId")
	if m.env.Error != nil || id.Type != gjson.String {
		return append(out, m.Frame)
	}
	if s.lookups > 0 {
		s.parked = append(s.parked, s.kept.take(m)) // also if there is no room: this is one answer
		s.begun()
		return out
	}
	agent := id.Str
	client := agent
	if s.known[agent] || s.byAgent[agent] != nil || s.sessions[agent] != nil {
		client = alias(agent)
	}
	c := s.enter(client)
	if client != agent {
		m = m.patched("result.sessionId", c.clientJSON)
	}
	s.bind(c, agent, m.env.Result)
	return s.release(c, append(out, m.Frame))
}
