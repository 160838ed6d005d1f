package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/acptap/acptap/record"
)

const (
	// lookEvery is how often a store is looked at in which nothing happens.
	lookEvery = time.Second

	// idleAfter is how long after the last tape has ended a shipper that is to end with
	// them tries to deliver what is left.
	idleAfter = time.Minute

	// settleAfter is how long after a call of a server its agent may still tell of the
	// tool call that led to it, in the next turn too.
	settleAfter = time.Second

	// anewShare bounds what reading a tape as a whole again and again costs while it is
	// recorded: one part in so many of the time.
	anewShare = 20
)

// errIdle says that nothing is being recorded any more.
var errIdle = errors.New("nothing is being recorded")

// follow delivers the tapes that are waiting and those that begin later, as they are
// recorded, until ctx is done. If untilIdle, it ends once no tape is being recorded and all
// has arrived, and at the latest a minute after the last of them has ended.
func (s *Shipper) follow(ctx context.Context, untilIdle bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if untilIdle {
		var waiting sync.WaitGroup
		waiting.Go(func() { s.cancelIdle(ctx, cancel) })
		defer waiting.Wait()
		defer cancel(nil)
	}
	s.settled = map[string]time.Time{}
	f := follower{s: s, untilIdle: untilIdle, tapes: map[string]*followed{}}
	for c, err := range s.Store.Watch(ctx, f.wanted) {
		if err != nil {
			s.Tell(Event{Kind: Unreadable, Tape: c.Tape, Text: err.Error()})
			continue
		}
		if err := s.unlessUnreadable(c.Tape, f.take(ctx, c)); errors.Is(err, errIdle) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); !errors.Is(err, errIdle) {
		return err
	}
	return nil
}

// cancelIdle ends ctx when nothing has been recorded for a minute.
func (s *Shipper) cancelIdle(ctx context.Context, cancel context.CancelCauseFunc) {
	last := time.Now()
	for sleep(ctx, lookEvery) == nil {
		if len(s.Store.Live()) > 0 {
			last = time.Now()
		}
		if time.Since(last) >= idleAfter {
			cancel(errIdle)
		}
	}
}

// A follower is the state of follow.
type follower struct {
	s         *Shipper
	untilIdle bool
	tapes     map[string]*followed // those of which something may be to be delivered
}

// A followed tape is one that is read as it is recorded: frame by frame, or as a whole each
// time that something has completed. The latter is for what the frames before do not tell
// by themselves: what of them is secret, and which tool calls led to the calls of a server.
type followed struct {
	*delivery           // nil before the first frame
	parent    string    // of a server, while the agent that has started it is being recorded
	due       bool      // something has completed
	next      time.Time // when it may be read as a whole again
	ended     bool
}

// wanted is what Store.Watch asks of each tape.
func (f *follower) wanted(tape string, live bool) (from uint64, ok bool) {
	f.s.seen[tape] = true
	if !f.s.wants(tape, live) {
		return 0, false
	}
	t := &followed{parent: f.parentOf(tape), ended: !live}
	f.tapes[tape] = t
	return 1, t.parent == ""
}

// parentOf returns the tape of the agent that has started a server, if that is being
// recorded.
func (f *follower) parentOf(tape string) string {
	t, err := f.s.Store.Open(tape)
	if err != nil {
		return ""
	}
	start, err := t.Start()
	if err != nil || !slices.Contains(f.s.Store.Live(), start.Parent.Tape) {
		return ""
	}
	return start.Parent.Tape
}

// take takes a change.
func (f *follower) take(ctx context.Context, c record.Change) error {
	t := f.tapes[c.Tape]
	switch c.Kind {
	case record.FrameRecorded:
		return f.add(ctx, c, t)
	case record.TapeEnded:
		if t == nil {
			return nil
		}
		if t.ended = true; t.parent == "" {
			delete(f.tapes, c.Tape)
			if err := f.end(ctx, c.Tape, t); err != nil {
				return err
			}
		}
		return f.flush(ctx) // of what is recorded beside a long list of old tapes
	case record.TapeDeleted:
		delete(f.tapes, c.Tape)
		return f.s.forget(c.Tape)
	case record.StoreLooked:
		return f.looked(ctx, c.Began)
	}
	return nil
}

// add takes a frame.
func (f *follower) add(ctx context.Context, c record.Change, t *followed) error {
	if t == nil { // it has no spans
		return nil
	}
	if t.delivery == nil {
		if err := f.begin(c.Tape, t); err != nil {
			delete(f.tapes, c.Tape)
			return err
		}
	}
	if f.s.Content {
		sets := t.spans.Add(&c.Frame)
		t.due = t.due || len(sets) > 0 && c.Frame.Seq > t.arrived
		return nil
	}
	return t.add(ctx, &c.Frame)
}

// begin begins with a tape, of which others are to know that it is to be delivered.
func (f *follower) begin(tape string, t *followed) error {
	of, err := f.s.Store.Open(tape)
	if err != nil {
		return err
	}
	info, err := of.Info()
	if err != nil {
		return unreadableError{err}
	}
	if t.delivery, err = f.s.begin(of, &info, true, false); err != nil {
		return err
	}
	return t.remember()
}

// end delivers what is left of a tape that has ended.
func (f *follower) end(ctx context.Context, tape string, t *followed) error {
	if f.s.Content {
		return f.readAnew(ctx, tape)
	}
	if t.delivery == nil {
		if err := f.begin(tape, t); err != nil {
			return err
		}
	}
	return t.delivery.end(ctx)
}

func (f *follower) readAnew(ctx context.Context, tape string) error {
	t, err := f.s.Store.Open(tape)
	if err != nil {
		return err
	}
	return f.s.Tape(ctx, t, true)
}

// flush sends what has completed: turns before what servers were asked in them.
func (f *follower) flush(ctx context.Context) error {
	for tape, t := range f.tapes {
		var err error
		switch {
		case t.parent != "" || t.delivery == nil:
		case !f.s.Content:
			err = t.flush(ctx)
		case t.due:
			err = f.flushAnew(ctx, tape, t)
		}
		if err != nil {
			return err
		}
	}
	for tape, t := range f.tapes {
		if t.parent != "" {
			if err := f.flushAnew(ctx, tape, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// flushAnew reads a tape as a whole, unless that was done too short a while ago.
func (f *follower) flushAnew(ctx context.Context, tape string, t *followed) error {
	began := time.Now()
	if began.Before(t.next) {
		return nil
	}
	last := t.parent == "" || !slices.Contains(f.s.Store.Live(), t.parent)
	err := f.readAnew(ctx, tape)
	if err == nil && f.s.cursors[tape].Done || err != nil && t.parent != "" || last && t.ended {
		delete(f.tapes, tape)
	}
	t.due, t.next = false, time.Now().Add(anewShare*time.Since(began))
	return f.s.unlessUnreadable(tape, err)
}

// looked is called when all that was in the store when a look began has been seen.
func (f *follower) looked(ctx context.Context, began time.Time) error {
	for tape, t := range f.tapes {
		if t.delivery != nil && t.parent == "" && !t.spans.Working() {
			f.s.settled[tape] = began.Add(-settleAfter)
		}
	}
	if err := f.flush(ctx); err != nil {
		return err
	}
	if f.untilIdle && len(f.tapes) == 0 && len(f.s.Store.Live()) == 0 {
		return errIdle
	}
	return sleep(ctx, lookEvery)
}

// ErrLocked says that another process delivers to the destination.
var ErrLocked = errors.New("another acptap is sending there")

// Lock locks the destination, and waits for others no longer than it would for the
// destination to be reached; it tells that it does. The caller unlocks it.
func (s *Shipper) Lock(ctx context.Context) error {
	told := false
	for began := time.Now(); ; {
		ok, err := s.To.Lock()
		if ok || err != nil {
			return err
		}
		if time.Since(began) >= s.Patience {
			return s.locked()
		}
		if !told {
			s.Tell(Event{Kind: Trouble, Text: s.locked().Error(), Again: true})
			told = true
		}
		if err := sleep(ctx, lockEvery); err != nil {
			return err
		}
	}
}

// locked returns ErrLocked with who that is.
func (s *Shipper) locked() error {
	if pid := s.To.Holder(); pid != 0 {
		return fmt.Errorf("%s: %w: process %d", s.Main().Name(), ErrLocked, pid)
	}
	return fmt.Errorf("%s: %w", s.Main().Name(), ErrLocked)
}

// lockEvery is how often a lock is tried.
const lockEvery = 100 * time.Millisecond

// Run locks the destination, and delivers the tapes that are waiting and those that begin
// later. It returns ErrLocked if another process delivers. A proxy that begins to record
// meanwhile starts no other: so once the lock is given back, Run looks for tapes that it has
// not seen.
func (s *Shipper) Run(ctx context.Context, from *time.Time, untilIdle bool) error {
	s.seen = map[string]bool{}
	for again := false; ; again = true {
		ok, err := s.To.Lock()
		if err == nil && !ok && !again {
			err = s.locked()
		}
		if err != nil || !ok {
			return err
		}
		if err = s.Open(from); err == nil {
			err = s.follow(ctx, untilIdle)
		}
		if err = errors.Join(err, s.To.Unlock()); err != nil || !s.missed() {
			return err
		}
	}
}

// missed reports whether there are tapes that were not there when all were looked at. It
// tells of each once: of one that was killed when it began there is nothing to see.
func (s *Shipper) missed() (some bool) {
	there, err := s.Store.Tapes()
	if err != nil {
		return false
	}
	for _, tape := range there {
		some = some || !s.seen[tape]
		s.seen[tape] = true
	}
	return some
}
