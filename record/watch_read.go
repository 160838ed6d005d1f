package record

import (
	"context"
	"io"
	"slices"
	"time"
)

const (
	// askEvery is how often the lock of a tape is checked. A killed proxy changes
	// nothing in its journal; only its lock is free.
	askEvery = 500 * time.Millisecond

	// maxTurn is how many blocks of one tape are read before the next one's turn. Few
	// journals have more that is not sealed yet.
	maxTurn = 8

	// maxOpen is how many tapes may keep a file open. If more are being recorded, none
	// does, and they are read every askEvery only.
	maxOpen = 512
)

// read yields all wanted frames that there are by now.
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

// turn yields what comes next on a tape, and reports whether there may be more.
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

// next reads the next block of a tape, into buffers that all tapes share.
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

// end yields the end of a tape, unless it has been yielded.
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
