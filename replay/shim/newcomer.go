package shim

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
)

// newcomers is what is known of sessions that are only being made.
type newcomers struct {
	known   map[string]bool // ids in the store, as far as they were looked up
	lookups int             // of known that are under way
	parked  []wire.Frame    // what came meanwhile: responses to session/new, and the client's for sessions that are not open
	making  int             // requests of the client for a new session that are not answered
	setups  int             // own requests for a session that have not led to one yet
	strays  []wire.Frame    // updates that came meanwhile for sessions that nobody knows
}

// shun has what the agent sends for a session withheld that it has made for a
// request that was given up.
func (s *Shim) shun(result []byte) {
	id := gjson.GetBytes(result, "sessionId")
	if id.Type == gjson.String && s.byAgent[id.Str] == nil {
		s.byAgent[id.Str] = &session{client: id.Str, agent: id.Str, closed: true}
	}
}

// begun notes that a setup of the shim's own is on its way. Until its end,
// updates for sessions that nobody knows are kept: some agents send them before
// they answer.
func (s *Shim) begun() { s.setups++ }

// settled notes that a setup has ended. Updates that came for no session go on
// as they are, once there is none that they could be for.
func (s *Shim) settled(out []wire.Frame) []wire.Frame {
	s.setups--
	if s.setups > 0 {
		return out
	}
	strays := s.strays
	s.strays = nil
	return s.goOn(strays, out)
}

// adopt gives a session the updates that came for it before it was known.
func (s *Shim) adopt(c *session) {
	s.strays = slices.DeleteFunc(s.strays, func(f wire.Frame) bool {
		m := read(f)
		if gjson.GetBytes(m.env.Params, "sessionId").Str != c.agent {
			return false
		}
		c.held = append(c.held, f)
		return true
	})
}

// lookUp begins to find out which sessions the store has. It is called in an
// act, and whenever the agent may give an id that it has given before.
func (s *Shim) lookUp() {
	s.lookups++
	s.spawn(func() {
		l, _ := s.Store.List() // one that cannot be read has nothing to confuse
		s.do(func(out []wire.Frame) []wire.Frame {
			for _, one := range slices.Concat(l.Sessions, l.Deleted) {
				if one.Agent == s.Agent && one.Runs[0].Tape != s.Tape {
					s.known[one.ID] = true
				}
			}
			s.lookups--
			if s.lookups > 0 {
				return out
			}
			parked := s.parked
			s.parked = nil
			for _, f := range parked {
				s.kept.drop(f)
				if m := read(again(f)); m.env.Method != nil {
					out = s.message(m, out)
				} else {
					out = s.settled(s.made(m, out))
				}
			}
			return out
		})
	})
}
