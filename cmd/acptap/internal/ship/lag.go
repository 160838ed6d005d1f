package ship

import (
	"time"

	"github.com/acptap/acptap/record"
)

// A Lag is what of a store has not arrived at a destination.
type Lag struct {
	Tapes   int
	Turns   uint64    // on them; of a tape that is being recorded without the last, which may go on
	Oldest  time.Time // when the first of the tapes that have ended did; zero: none has
	Refused uint64    // spans that were refused for good
}

// LagOf returns what of a store, which is listed in l, has not arrived.
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
