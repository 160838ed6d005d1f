package shim

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A storeQuery lists what is in the store. Queries run one at a time, and callers waiting
// for the next one share it.
type storeQuery struct {
	running sync.Mutex // held while a query runs

	mu   sync.Mutex
	next *storeView // result of the next query; nil: no one has asked since the last one began; guarded by mu
}

// A storeView is what the store contained at one moment.
type storeView struct {
	listing record.Listing
	offered map[string]record.SessionInfo // the sessions that may be listed and loaded here, by id
	err     error
	done    chan struct{} // closed when the other fields are set
}

// view returns what is in the store, including everything there at the time of the call.
// The caller must not change the view.
func (s *Shim) view() (*storeView, error) {
	s.query.mu.Lock()
	v := s.query.next
	if v == nil {
		v = &storeView{done: make(chan struct{})}
		s.query.next = v
		go s.runQuery(v) // may outlive the Shim: a query cannot be cancelled
	}
	s.query.mu.Unlock()
	select {
	case <-v.done:
	case <-s.ends.closed:
		return nil, errOver
	}
	if v.err != nil {
		return nil, unreadable("store", v.err)
	}
	return v, nil
}

// runQuery runs the next query, after the current one.
func (s *Shim) runQuery(v *storeView) {
	defer s.handPanic()
	s.query.running.Lock()
	defer s.query.running.Unlock()
	s.query.mu.Lock()
	s.query.next = nil // anyone who asks from now on must see what is added meanwhile
	s.query.mu.Unlock()
	list := s.Store.ListRecorded
	if s.Imported {
		list = s.Store.List
	}
	v.listing, v.err = list()
	v.offered = s.offered(v.listing)
	close(v.done)
}

// offered returns the sessions that may be listed and loaded here, by id: those that were
// opened, not merely requested. If several sessions share an id, it returns only the
// preferred one.
func (s *Shim) offered(l record.Listing) map[string]record.SessionInfo {
	best := map[string]record.SessionInfo{}
	for _, one := range slices.Concat(l.Sessions, l.Deleted) {
		_, _, turns := one.Total()
		if !s.AnyAgent && one.Agent != s.Agent || one.Cwd == "" && turns == 0 {
			continue
		}
		if other, ok := best[one.ID]; !ok || s.prefers(one, other) {
			best[one.ID] = one
		}
	}
	maps.DeleteFunc(best, func(_ string, one record.SessionInfo) bool { return one.Deleted })
	return best
}

// prefers reports whether session a is preferred to b, which has the same id. A session
// of this agent comes first, then one with prompts, then the more recently used.
func (s *Shim) prefers(a, b record.SessionInfo) bool {
	if own := a.Agent == s.Agent; own != (b.Agent == s.Agent) {
		return own
	}
	_, _, turns := a.Total()
	if _, _, other := b.Total(); (turns > 0) != (other > 0) {
		return turns > 0
	}
	return a.Updated().After(b.Updated())
}

// hasGap reports whether part of a session was not recorded, for example because the disk
// was full. Showing the rest as if it were complete would mislead both client and agent.
func (s *Shim) hasGap(one record.SessionInfo, l record.Listing) bool {
	return slices.ContainsFunc(one.Runs, func(r record.Run) bool {
		if info := tapeOf(l, r); info == nil || info.Lost == 0 {
			return false
		}
		tape, err := s.Store.Open(r.Tape)
		if err != nil {
			return false
		}
		for f, err := range tape.Frames(r.First) {
			switch {
			case err != nil:
			case f.Seq > r.Last:
				return false
			case f.Kind == wire.Mark && wire.ReadMark(f.Frame).Gap > 0:
				return true
			}
		}
		return false
	})
}

// tapeOf returns the Info of a run's tape, or nil if the listing lacks it.
func tapeOf(l record.Listing, r record.Run) *record.Info {
	i, ok := slices.BinarySearchFunc(l.Tapes, r.Tape, func(t record.Info, id string) int { return cmp.Compare(t.Tape, id) })
	if !ok { // tapes with odd ids come before the others (Store.Tapes)
		i = slices.IndexFunc(l.Tapes, func(t record.Info) bool { return t.Tape == r.Tape })
	}
	if i < 0 {
		return nil
	}
	return &l.Tapes[i]
}

// agentName returns the name to show for a session's agent, from its latest tape.
func (s *Shim) agentName(one record.SessionInfo, l record.Listing) string {
	info := tapeOf(l, one.Runs[len(one.Runs)-1])
	if info == nil || s.Called == nil {
		return one.Agent
	}
	return cmp.Or(s.Called(*info), one.Agent)
}

// find returns a loadable session of the store, and the store's listing. Its error is a
// fault or errOver.
func (s *Shim) find(clientID string) (record.SessionInfo, record.Listing, error) {
	v, err := s.view()
	if err != nil {
		return record.SessionInfo{}, record.Listing{}, err
	}
	one, ok := v.offered[clientID]
	if !ok {
		return record.SessionInfo{}, v.listing, notFound(clientID)
	}
	if s.hasGap(one, v.listing) {
		return record.SessionInfo{}, v.listing, fault{wire.InternalError, "a part of the session could not be recorded", nil}
	}
	return one, v.listing, nil
}

// busyElsewhere reports whether another running proxy has continued the session.
func (s *Shim) busyElsewhere(one record.SessionInfo, l record.Listing) bool {
	return !one.Closed && slices.ContainsFunc(one.Runs, func(r record.Run) bool {
		tape := tapeOf(l, r)
		return tape != nil && tape.Live && r.Tape != s.Tape && r.Turns > 0
	})
}

// sameDir compares two working directories as text: a symbolic link may point elsewhere
// tomorrow.
func sameDir(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }
