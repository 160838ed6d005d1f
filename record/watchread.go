package record

import (
	"context"
	"io"
	"slices"
	"time"
)

const (
	// A killed proxy leaves its journal as it is: that nobody holds its lock any
	// more has to be asked.
	askEvery = 500 * time.Millisecond

	// maxTurn is how many blocks of one tape are read before those of the next: more
	// than most journals have that were not sealed yet.
	maxTurn = 8

	// maxOpen is how many files stay open. Where more tapes are recorded, none does,
	// and they are looked at each askEvery only.
	maxOpen = 512
)

// read tells all that there is by now of the tapes that are wanted.
func (w *watcher) read(ctx context.Context) {
	for more := true; more; {
		more = false
		for _, t := range slices.Clone(w.live) {
			more = w.turn(ctx, t) || more
			if w.stopped || ctx.Err() != nil {
				return
			}
		}
		if len(w.ended) > 0 {
			n := len(w.ended)
			more = w.turn(ctx, w.ended[0]) || len(w.ended) < n || more
			if w.stopped || ctx.Err() != nil {
				return
			}
		}
	}
}

// turn tells what comes next on a tape, and reports whether there may be more.
func (w *watcher) turn(ctx context.Context, t *watched) (more bool) {
	now := time.Now()
	due := !t.quiet || now.Sub(t.looked) >= askEvery
	switch {
	case t.r == nil && due:
		t.quiet, t.looked = true, now
		if !w.store.isLive(t.tape) {
			w.end(t)
		}
		return false
	case t.r == nil, !due && (t.parked || t.r.tail.journal.Quiet()):
		return false
	}
	for range maxTurn {
		b, err := w.next(t)
		switch {
		case err == errNoMore:
			w.rest(t, now)
			return false
		case err == io.EOF:
			w.end(t)
			return false
		case err != nil:
			w.yield(Change{Kind: FrameRecorded, Tape: t.tape}, err)
		default:
			for f, err := range t.r.tape.framesOf(b, &t.next, true) {
				if ctx.Err() != nil || !w.yield(Change{Kind: FrameRecorded, Tape: t.tape, Frame: f}, err) {
					return false
				}
			}
		}
		if w.stopped {
			return false
		}
	}
	return true
}

// next reads the next block of a tape into what all share.
func (w *watcher) next(t *watched) (*block, error) {
	if k := t.r.tail; k != nil {
		k.d.build = w.build
	}
	b, err := t.r.next()
	if k := t.r.tail; k != nil {
		w.build, k.d.build = k.d.build, builder{}
	}
	return b, err
}

// rest notes that a tape has no more by now.
func (w *watcher) rest(t *watched, now time.Time) {
	journal := &t.r.tail.journal
	t.quiet, t.looked, journal.Known = true, now, t.segments
	if t.parked = len(w.live) > maxOpen; t.parked {
		journal.Close()
	}
}

// end tells that nothing comes of a tape any more, unless it did not come before.
func (w *watcher) end(t *watched) {
	is := func(one *watched) bool { return one == t }
	n := len(w.live) + len(w.ended)
	w.live, w.ended = slices.DeleteFunc(w.live, is), slices.DeleteFunc(w.ended, is)
	if t.r != nil {
		t.r.close()
		t.r = nil
	}
	if n > len(w.live)+len(w.ended) {
		w.yield(Change{Kind: TapeEnded, Tape: t.tape}, nil)
	}
}
