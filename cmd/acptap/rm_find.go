package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/tapeid"
	"github.com/acptap/acptap/record/termtext"
)

// A deletion lists the tapes to delete for the tapes and sessions that were named.
type deletion struct {
	Tapes []string
	Kept  []keptRun
}

// A keptRun is a run of a deleted session on a tape that stays because the session was
// merely opened, closed or deleted there.
type keptRun struct{ Tape, Session string }

// findTapes returns the tapes that refs name, and the tapes nested in them. It looks up all
// refs before anything is deleted, because a deletion changes what last means.
func findTapes(store *record.Store, refs []string) (deletion, error) {
	find := ref.In(store)
	d, err := findNamed(find, refs)
	if err != nil {
		return d, err
	}
	l, err := find.List()
	if err != nil {
		return d, err
	}
	return d, d.addNested(l)
}

// addNested adds the nested tapes, each after its parent. They are part of the
// conversation, so it returns an error if one of them is still being recorded.
func (d *deletion) addNested(l *record.Listing) error {
	nesting := record.NestingOf(l.Tapes)
	live := map[string]bool{}
	for _, i := range l.Tapes {
		live[i.Tape] = i.Live
	}
	named := d.Tapes
	d.Tapes = nil
	for _, tape := range named {
		d.add(tape)
		for _, i := range nesting.Below(tape) {
			switch {
			case live[tape]:
				return fmt.Errorf("tape %s: %w", tape, record.ErrLive)
			case i.Live:
				return fmt.Errorf("tape %s, of a server that was started on tape %s: %w", i.Tape, tape, record.ErrLive)
			}
			d.add(i.Tape)
		}
	}
	return nil
}

// findNamed is findTapes without the nested tapes.
func findNamed(find *ref.Finder, refs []string) (deletion, error) {
	var d deletion
	noTape := map[string]error{} // errors for refs that name no tape
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
		fits, _ := ref.SessionsLike(all, name) // an id that matches several sessions is an error
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

func (d *deletion) add(tape string) {
	if !slices.Contains(d.Tapes, tape) {
		d.Tapes = append(d.Tapes, tape)
	}
}

// addRun adds the tape of a run. others are the other sessions on that tape.
func (d *deletion) addRun(l *record.Listing, one record.SessionInfo, run record.Run, others []string) error {
	tape := slices.IndexFunc(l.Tapes, func(i record.Info) bool { return i.Tape == run.Tape })
	switch {
	case slices.Contains(d.Tapes, run.Tape):
	case tape >= 0 && l.Tapes[tape].Live:
		return fmt.Errorf("session %s is on tape %s: %w", termtext.Line(one.ID), run.Tape, record.ErrLive)
	case len(others) == 0:
		d.add(run.Tape)
	case run.Turns == 0 && run.Frames <= 1:
		d.Kept = append(d.Kept, keptRun{run.Tape, one.ID})
	default:
		return fmt.Errorf("session %s shares tape %s with %s; to delete all of them, name these too, or the tape", termtext.Line(one.ID), run.Tape, termtext.Line(strings.Join(others, ", ")))
	}
	return nil
}

// tapesBefore returns the tapes that began before limit, also according to their ids, and
// the tapes nested in them, of any age. It omits trees in which a tape is still being recorded.
func tapesBefore(l *record.Listing, limit time.Time) (tapes []string) {
	nesting := record.NestingOf(l.Tapes)
	for _, i := range l.Tapes {
		below := nesting.Below(i.Tape)
		if nesting.Parent(i.Tape) != "" || i.Live || !i.Start.Time.Before(limit) || !tapeid.Time(i.Tape).Before(limit) ||
			slices.ContainsFunc(below, func(i record.Info) bool { return i.Live }) {
			continue
		}
		tapes = append(tapes, i.Tape)
		for _, nested := range below {
			tapes = append(tapes, nested.Tape)
		}
	}
	return tapes
}

// others returns the sessions, except the deleted ones, that would lose frames with the
// tape.
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
