package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// A doom is what goes because of what was named.
type doom struct {
	tapes []string
	kept  []keptRun
}

// A keptRun is of a session that goes, on a tape that stays: nothing is on it but
// that the session was opened, closed or deleted there.
type keptRun struct{ tape, session string }

// findDoomed returns which tapes go if the tapes and sessions that are named are
// to go. All are looked up before the first is gone: last must not move.
func findDoomed(store *record.Store, refs []string) (doom, error) {
	var d doom
	ids, err := store.Tapes()
	if err != nil {
		return d, err
	}
	noTape := map[string]error{} // why what is named is none
	for _, ref := range refs {
		id, err := record.TapeID(ids, ref)
		if err == nil {
			d.add(id)
		} else {
			noTape[ref] = err
		}
	}
	if len(noTape) == 0 {
		return d, nil
	}
	l, err := store.List()
	if err != nil {
		return d, err
	}
	all := slices.Concat(l.Sessions, l.Deleted)
	var sessions []record.SessionInfo
	for _, name := range slices.Sorted(maps.Keys(noTape)) {
		fits, _ := sessionsLike(all, name) // not the latest of an id: which is meant must be certain
		one, err := onlySession(fits, name)
		if errors.Is(err, record.ErrNoTape) {
			return d, fmt.Errorf("%w, and no session; see acptap ls and acptap sessions", noTape[name])
		}
		if err != nil {
			return d, err
		}
		sessions = append(sessions, one)
	}
	for _, one := range sessions {
		for _, run := range one.Runs {
			if err := d.addRun(l, one, run, others(all, sessions, run.Tape)); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

func (d *doom) add(tape string) {
	if !slices.Contains(d.tapes, tape) {
		d.tapes = append(d.tapes, tape)
	}
}

// addRun adds the tape of a run, on which there are the other sessions too.
func (d *doom) addRun(l record.Listing, one record.SessionInfo, run record.Run, others []string) error {
	tape := slices.IndexFunc(l.Tapes, func(i record.Info) bool { return i.Tape == run.Tape })
	switch {
	case slices.Contains(d.tapes, run.Tape):
	case tape >= 0 && l.Tapes[tape].Live:
		return fmt.Errorf("session %s is on tape %s: %w", termtext.Line(one.ID), run.Tape, record.ErrLive)
	case len(others) == 0:
		d.add(run.Tape)
	case run.Turns == 0 && run.Frames <= 1:
		d.kept = append(d.kept, keptRun{run.Tape, one.ID})
	default:
		return fmt.Errorf("session %s shares tape %s with %s; name them too, or the tape, to delete all of them", termtext.Line(one.ID), run.Tape, termtext.Line(strings.Join(others, ", ")))
	}
	return nil
}

// others returns the sessions that would lose something with a tape and are not
// among those that go.
func others(all, going []record.SessionInfo, tape string) []string {
	var ids []string
	for _, s := range all {
		goes := slices.ContainsFunc(going, func(g record.SessionInfo) bool { return g.ID == s.ID && g.Agent == s.Agent })
		said := func(r record.Run) bool {
			return r.Tape == tape && (r.Turns > 0 || s.Dialect.Protocol() == dialect.MCP)
		}
		if !goes && slices.ContainsFunc(s.Runs, said) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}
