package shim

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// An idLookup knows which session ids this agent has used on other tapes. Agents that
// forget their sessions may use an id again.
type idLookup struct {
	used    map[string]bool // ids in the store, as far as it has been read
	running bool            // the store is being read
	again   bool            // read the store once more after that
	late    bool            // the read takes too long to wait for
	wait    time.Duration   // 0: lookUpWait
	parked  []wire.Frame    // frames that wait for the read: answers to session/new, and the client's messages for unknown sessions
}

// lookUpWait limits how long frames wait for the store to be read.
const lookUpWait = 100 * time.Millisecond

// lookUpIDs starts to read the ids in the store. It must be called in an act, whenever
// the agent may be about to reuse an id.
func (s *Shim) lookUpIDs() {
	if s.lookup.running {
		s.lookup.again = true
		return
	}
	s.lookup.running = true
	s.startBackground(func() {
		for more := true; more; {
			v, err := s.view()
			if errors.Is(err, errOver) {
				return
			}
			s.do(func(out []wire.Frame) []wire.Frame {
				if err == nil { // an unreadable store has no ids to confuse
					s.addUsed(v)
				}
				more, s.lookup.again = s.lookup.again, false
				if more {
					return out
				}
				s.lookup.running, s.lookup.late = false, false
				return s.unpark(out)
			})
		}
	})
}

// addUsed adds the ids in the store that this agent has used on other tapes.
func (s *Shim) addUsed(v *storeView) {
	for _, one := range slices.Concat(v.listing.Sessions, v.listing.Deleted) {
		if one.Agent == s.Agent && one.Runs[0].Tape != s.Tape {
			s.lookup.used[one.ID] = true
		}
	}
}

// unsure reports whether the ids are worth waiting for.
func (l *idLookup) unsure() bool { return l.running && !l.late }

// park holds a frame until the ids have been read or lookUpWait has passed.
func (s *Shim) park(m message, out []wire.Frame) []wire.Frame {
	if len(s.lookup.parked) == 0 {
		time.AfterFunc(cmp.Or(s.lookup.wait, lookUpWait), func() {
			s.do(func(out []wire.Frame) []wire.Frame {
				s.lookup.late = s.lookup.running && len(s.lookup.parked) > 0
				return s.unpark(out)
			})
		})
	}
	return s.holdIn(&s.lookup.parked, m, out)
}

// unpark handles the parked frames.
func (s *Shim) unpark(out []wire.Frame) []wire.Frame {
	parked := s.lookup.parked
	s.lookup.parked = nil
	for _, f := range parked {
		s.held.drop(f)
		if m := read(released(f)); m.env.Method != nil {
			out = s.handle(m, out)
		} else {
			out = s.endSetup(&s.setups.anyID, s.onSessionMade(m, out))
		}
	}
	s.endIfIdle()
	return out
}
