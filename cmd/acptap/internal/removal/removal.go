// Package removal finds which tapes have to go for what a user names, says what they
// are, asks, and deletes them.
package removal

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// A Deletion lists the tapes to delete for the tapes and sessions that were named.
type Deletion struct {
	Tapes []string
	Kept  []KeptRun
}

// A KeptRun is a run of a deleted session on a tape that stays, because the session
// was only opened, closed or deleted there.
type KeptRun struct{ Tape, Session string }

// Find returns which tapes have to be deleted for refs. All refs are looked
// up before the first deletion, which would change what last means.
func Find(store *record.Store, refs []string) (Deletion, error) {
	var d Deletion
	find := ref.In(store)
	noTape := map[string]error{} // why a ref names no tape
	for _, name := range refs {
		id, err := find.Tape(name)
		if err == nil {
			d.add(id)
		} else {
			noTape[name] = err
		}
	}
	if len(noTape) == 0 {
		return d, nil
	}
	l, err := find.List()
	if err != nil {
		return d, err
	}
	all := slices.Concat(l.Sessions, l.Deleted)
	var sessions []record.SessionInfo
	for _, name := range slices.Sorted(maps.Keys(noTape)) {
		fits, _ := ref.SessionsLike(all, name) // of all sessions with an id: an ambiguous one is refused
		one, err := ref.OnlySession(fits, name)
		if errors.Is(err, record.ErrNoTape) {
			if err = noTape[name]; errors.Is(err, ref.ErrUnknown) {
				err = fmt.Errorf("%w, and no session; see acptap ls and acptap sessions", err)
			}
			return d, err
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

func (d *Deletion) add(tape string) {
	if !slices.Contains(d.Tapes, tape) {
		d.Tapes = append(d.Tapes, tape)
	}
}

// addRun adds the tape of a run. others are the other sessions on that tape.
func (d *Deletion) addRun(l *record.Listing, one record.SessionInfo, run record.Run, others []string) error {
	tape := slices.IndexFunc(l.Tapes, func(i record.Info) bool { return i.Tape == run.Tape })
	switch {
	case slices.Contains(d.Tapes, run.Tape):
	case tape >= 0 && l.Tapes[tape].Live:
		return fmt.Errorf("session %s is on tape %s: %w", termtext.Line(one.ID), run.Tape, record.ErrLive)
	case len(others) == 0:
		d.add(run.Tape)
	case run.Turns == 0 && run.Frames <= 1:
		d.Kept = append(d.Kept, KeptRun{run.Tape, one.ID})
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
