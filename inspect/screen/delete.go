package screen

import (
	"fmt"
	"slices"

	"github.com/acptap/acptap/record"
)

// askDelete deletes the tape under the cursor and the tapes nested in it, if the user
// confirms.
func (a *app) askDelete() {
	e, ok := a.entry()
	if !ok {
		return
	}
	tape := e.tape
	below := record.NestingOf(a.tapes.listing.Tapes).Below(tape.Tape)
	ids, with := []string{tape.Tape}, " and all that is on it?"
	for _, i := range below {
		ids = append(ids, i.Tape)
	}
	switch live := slices.ContainsFunc(below, func(i record.Info) bool { return i.Live }); {
	case len(below) == 0:
	case tape.Live || live:
		a.fail(fmt.Errorf("tape %s, or that of a server of its agent: %w", tape.Tape, record.ErrLive))
		return
	case len(below) == 1:
		with = " and that of its server?"
	default:
		with = fmt.Sprintf(" and those of its %d servers?", len(below))
	}
	a.confirm("delete tape "+tape.Tape+with, func() { a.deleteTapes(ids) }, func() {})
}

// deleteTapes deletes tapes, and closes the views that show them.
func (a *app) deleteTapes(ids []string) {
	var waits []func()
	if a.timeline != nil && slices.ContainsFunc(ids, a.timeline.Has) {
		waits = append(waits, a.closeTape())
	}
	for _, id := range ids {
		waits = append(waits, a.forgetDiff(id))
	}
	a.jobs.Go(func() {
		for _, wait := range waits {
			wait()
		}
		_, err := a.Store.Delete(ids...)
		a.updates.post(func() {
			a.notify("deleted " + ids[0])
			a.fail(err)
		})
	})
}
