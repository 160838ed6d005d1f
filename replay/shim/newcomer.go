package shim

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// newcomers is what is known of sessions that are only being made.
type newcomers struct {
	known   map[string]bool // ids in the store, as far as they were looked up
	looking bool            // for what else is in the store
	again   bool            // and then once more
	late    bool            // that takes too long to wait for it
	parked  []wire.Frame    // what came meanwhile: responses to session/new, and the client's for sessions that are not open
	making  int             // requests of the client for a new session that are not answered
	setups  int             // own requests for a session that have not led to one yet
	strays  []wire.Frame    // updates that came meanwhile for sessions that nobody knows
}

// shun has what the agent sends for a session withheld that it has made for a
// request that was given up.
func (s *Shim) shun(result []byte) {
	id := get(result, "sessionId")
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
		if get(m.env.Params, "sessionId").Str != c.agent {
			return false
		}
		c.held = append(c.held, f)
		return true
	})
}

// lookUpWait is how long it is waited for what the store has.
const lookUpWait = 100 * time.Millisecond

// lookUp begins to find out which sessions the store has. It is called in an
// act, and whenever the agent may give an id that it has given before.
func (s *Shim) lookUp() {
	if s.looking {
		s.again = true
		return
	}
	s.looking = true
	s.beside(func() {
		for more := true; more; {
			v, err := s.view()
			if err == errOver {
				return
			}
			s.do(func(out []wire.Frame) []wire.Frame {
				if err == nil { // a store that cannot be read has nothing to confuse
					s.know(v)
				}
				more, s.again = s.again, false
				if more {
					return out
				}
				s.looking, s.late = false, false
				return s.unpark(out)
			})
		}
	})
}

// know takes over which ids are in the store.
func (s *Shim) know(v *view) {
	for _, list := range [][]record.SessionInfo{v.Sessions, v.Deleted} {
		for _, one := range list {
			if one.Agent == s.Agent && one.Runs[0].Tape != s.Tape {
				s.known[one.ID] = true
			}
		}
	}
}

// unsure reports whether it is worth waiting for what the store has.
func (s *Shim) unsure() bool { return s.looking && !s.late }

// park keeps a frame until it is known what the store has, or that takes too
// long.
func (s *Shim) park(m message, out []wire.Frame) []wire.Frame {
	if len(s.parked) == 0 {
		time.AfterFunc(lookUpWait, func() {
			s.do(func(out []wire.Frame) []wire.Frame {
				s.late = s.looking && len(s.parked) > 0
				return s.unpark(out)
			})
		})
	}
	return s.keep(&s.parked, m, out)
}

// unpark lets what is parked go on.
func (s *Shim) unpark(out []wire.Frame) []wire.Frame {
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
	s.endIfIdle()
	return out
}
