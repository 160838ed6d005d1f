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

// A deletion lists the tapes to delete for the tapes and sessions that were named.
type deletion struct {
	tapes []string
	kept  []keptRun
}

// A keptRun is a run of a deleted session on a tape that stays, because the session
// was only opened, closed or deleted there.
type keptRun struct{ tape, session string }

// findDeletion returns which tapes have to be deleted for refs. All refs are looked
// up before the first deletion, which would change what last means.
func findDeletion(store *record.Store, refs []string) (deletion, error) {
	var d deletion
	ids, err := store.Tapes()
	if err != nil {
		return d, err
	}
	noTape := map[string]error{} // why a ref names no tape
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
		fits, _ := sessionsLike(all, name) // of all sessions with an id: an ambiguous one is refused
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

func (d *deletion) add(tape string) {
	if !slices.Contains(d.tapes, tape) {
		d.tapes = append(d.tapes, tape)
	}
}

// addRun adds the tape of a run. others are the other sessions on that tape.
func (d *deletion) addRun(l record.Listing, one record.SessionInfo, run record.Run, others []string) error {
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
		return fmt.Errorf("session %s shares tape %s with %s; to delete all of them, name these too, or the tape", termtext.Line(one.ID), run.Tape, termtext.Line(strings.Join(others, ", ")))
	}
	return nil
}

// others returns the sessions that are not to be deleted and would lose something
// with the tape.
func others(all, deleted []record.SessionInfo, tape string) []string {
	var ids []string
	for _, s := range all {
		named := slices.ContainsFunc(deleted, func(g record.SessionInfo) bool { return g.ID == s.ID && g.Agent == s.Agent })
		used := func(r record.Run) bool {
			return r.Tape == tape && (r.Turns > 0 || s.Dialect.Protocol() == dialect.MCP)
		}
		if !named && slices.ContainsFunc(s.Runs, used) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}
