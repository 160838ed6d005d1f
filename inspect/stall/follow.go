package stall

import (
	"context"
	"time"

	"github.com/acptap/acptap/record"
)

// A Hang is a Stall on a tape that is being recorded.
type Hang struct {
	Stall
	Began time.Time // by the clock of Follow
}

// Brief says in a few words how long it has been hanging, such as `silent 34 s`.
func (h *Hang) Brief(now time.Time) string { return h.Stall.Brief(h.Since + now.Sub(h.Began)) }

// Follow watches the tapes of a store that are being recorded, until ctx is done. It calls
// changed with what hangs on a tape whenever that changes. after is as in Watch.
func Follow(ctx context.Context, store *record.Store, after time.Duration, changed func(tape string, hangs []Hang)) {
	tapes := Tapes{Store: store, After: after}
	for c, err := range store.Watch(ctx, tapes.Wanted) {
		if err != nil {
			continue // whoever reads the tape reports it
		}
		tapes.Take(&c, time.Now(), func(t *Tape, kind record.ChangeKind, changes []Change) {
			if len(changes) == 0 {
				return
			}
			var hangs []Hang
			for _, s := range t.Watch.Hanging() {
				hangs = append(hangs, Hang{s, t.Time(s.Since)})
			}
			changed(t.Info.Tape, hangs)
		})
	}
}
