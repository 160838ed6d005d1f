package shim

import (
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// pendingSetups has the state of sessions that are being set up, and of the lookup of ids
// in the store.
type pendingSetups struct {
	knownIDs    map[string]bool // ids in the store, as far as they were looked up
	querying    bool            // the store is being read
	queryAgain  bool            // and must then be read again
	queryLate   bool            // the reading takes too long to wait for
	parked      []wire.Frame    // what came meanwhile: responses to session/new, and messages of the client for sessions that are not open
	newRequests int             // session/new of the client that are not answered
	ownSetups   int             // setups by the shim that have not ended
	unclaimed   []wire.Frame    // updates that came during setups for unknown sessions
}

// suppress withholds what the agent sends for a session that it made for a request that
// was given up. result is the result of that request.
func (s *Shim) suppress(result []byte) {
	id := get(result, "sessionId")
	if id.IsString() && s.byAgent[id.Text()] == nil {
		s.byAgent[id.Text()] = &session{client: id.Text(), agent: id.Text(), closed: true}
	}
}

// setupBegan notes that the shim sets up a session. Until that ends, updates for unknown
// sessions are kept: some agents send them before they answer.
func (s *Shim) setupBegan() { s.ownSetups++ }

// setupEnded notes that a setup has ended. After the last one, the updates that no
// session has claimed go on.
func (s *Shim) setupEnded(out []wire.Frame) []wire.Frame {
	s.ownSetups--
	if s.ownSetups > 0 {
		return out
	}
	unclaimed := s.unclaimed
	s.unclaimed = nil
	return s.goOn(unclaimed, out)
}

// claimUpdates gives a session the updates that came for it before it was known.
func (s *Shim) claimUpdates(c *session) {
	s.unclaimed = slices.DeleteFunc(s.unclaimed, func(f wire.Frame) bool {
		m := read(f)
		if get(m.env.Params, "sessionId").Text() != c.agent {
			return false
		}
		c.fromAgent = append(c.fromAgent, f)
		return true
	})
}

// lookUpWait is how long frames wait for the store to be read.
const lookUpWait = 100 * time.Millisecond

// lookUpIDs starts to look up the ids of the sessions in the store. It is called in an
// act, whenever the agent may soon give an id that it has given before.
func (s *Shim) lookUpIDs() {
	if s.querying {
		s.queryAgain = true
		return
	}
	s.querying = true
	s.inBackground(func() {
		for more := true; more; {
			v, err := s.view()
			if err == errOver {
				return
			}
			s.do(func(out []wire.Frame) []wire.Frame {
				if err == nil { // a store that cannot be read has nothing to confuse
					s.addKnown(v)
				}
				more, s.queryAgain = s.queryAgain, false
				if more {
					return out
				}
				s.querying, s.queryLate = false, false
				return s.unpark(out)
			})
		}
	})
}

// addKnown adds the ids in the store that this agent has given on other tapes.
func (s *Shim) addKnown(v *storeView) {
	for _, list := range [][]record.SessionInfo{v.Sessions, v.Deleted} {
		for _, one := range list {
			if one.Agent == s.Agent && one.Runs[0].Tape != s.Tape {
				s.knownIDs[one.ID] = true
			}
		}
	}
}

// unsure reports whether it is worth waiting for the store to be read.
func (s *Shim) unsure() bool { return s.querying && !s.queryLate }

// park holds a frame back until the store was read, or that takes too long.
func (s *Shim) park(m message, out []wire.Frame) []wire.Frame {
	if len(s.parked) == 0 {
		time.AfterFunc(lookUpWait, func() {
			s.do(func(out []wire.Frame) []wire.Frame {
				s.queryLate = s.querying && len(s.parked) > 0
				return s.unpark(out)
			})
		})
	}
	return s.keep(&s.parked, m, out)
}

// unpark handles the parked frames.
func (s *Shim) unpark(out []wire.Frame) []wire.Frame {
	parked := s.parked
	s.parked = nil
	for _, f := range parked {
		s.kept.drop(f)
		if m := read(again(f)); m.env.Method != nil {
			out = s.message(m, out)
		} else {
			out = s.setupEnded(s.sessionMade(m, out))
		}
	}
	s.endIfIdle()
	return out
}
