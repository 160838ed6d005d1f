package shim

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// offered returns the sessions that may be listed and loaded here, by id: those that were
// opened and not only asked for. If several sessions have one id, it returns the preferred
// one only.
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

// prefers reports whether session a is preferred to b, which has the same id. A session of
// this agent comes first, then one with prompts, then the one used later.
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

// hasGap reports whether a part of a session was not recorded, for example because the disk
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

// tapeOf returns the Info of the tape of a run, or nil if the listing does not have it.
func tapeOf(l record.Listing, r record.Run) *record.Info {
	i, ok := slices.BinarySearchFunc(l.Tapes, r.Tape, func(t record.Info, id string) int { return cmp.Compare(t.Tape, id) })
	if !ok { // tapes with odd ids precede the others (Store.Tapes)
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

// find returns a session of the store that may be loaded, and the listing of the store.
// Its error is a fault or errOver.
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
