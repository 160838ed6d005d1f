package ship

import (
	"time"

	"github.com/acptap/acptap/record"
)

// A Lag is the part of a store that has not arrived at a destination.
type Lag struct {
	Tapes   int
	Turns   uint64    // on these tapes, except the last one of a live tape, which may continue
	Oldest  time.Time // when the first of the ended tapes ended; zero: none has
	Refused uint64    // number of permanently refused spans
}

// LagOf returns the lag of a store, whose listing is l.
func LagOf(store *record.Store, l *record.Listing, head *Head, cursors map[string]Cursor) (lag Lag) {
	for i := range l.Tapes {
		t := &l.Tapes[i]
		c, known := cursors[t.Tape]
		lag.Refused += c.Refused
		if c.Done || !known && !Wants(head, store, t.Tape) {
			continue
		}
		turns := t.Turns - min(c.Turns, t.Turns)
		if t.Live {
			if turns < 2 {
				continue
			}
			turns--
		}
		lag.Tapes++
		lag.Turns += turns
		if ended := t.Start.Time.Add(t.Last); !t.Live && (lag.Oldest.IsZero() || ended.Before(lag.Oldest)) {
			lag.Oldest = ended
		}
	}
	return lag
}
