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
	// lookEvery is the interval between checks of an idle store.
	lookEvery = time.Second

	// idleAfter limits how long a shipper with untilIdle keeps trying to deliver the rest
	// after the last tape has ended.
	idleAfter = time.Minute

	// settleAfter is the time after a server's call in which its agent may still report
	// the tool call that led to it, even in the next turn.
	settleAfter = time.Second

	// anewShare bounds the cost of rereading whole tapes while they are recorded to one
	// part in anewShare of the time.
	anewShare = 20
)

// errIdle means that nothing is being recorded any more.
var errIdle = errors.New("nothing is being recorded")

// follow delivers the waiting tapes and those that begin later, as they are recorded,
// until ctx is done. If untilIdle is set, it ends once no tape is being recorded and
// everything has arrived, but no later than a minute after the last tape has ended.
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
	tapes     map[string]*followed // those that may have something to deliver
}

// A followed tape is read as it is recorded: frame by frame, or as a whole each time
// something has completed. Rereading is necessary if earlier frames do not reveal enough:
// which parts are secret, and which tool calls led to a server's calls.
type followed struct {
	*delivery           // nil before the first frame
	parent    string    // of a server, if its agent was being recorded at the start
	due       bool      // something has completed
	next      time.Time // when it may next be read as a whole
	ended     bool
}

// wanted tells Store.Watch where to start reading a tape.
func (f *follower) wanted(tape string, live bool) (from uint64, ok bool) {
	f.s.seen[tape] = true
	if !f.s.wants(tape, live) {
		return 0, false
	}
	t := &followed{parent: f.parentOf(tape), ended: !live}
	f.tapes[tape] = t
	return 1, t.parent == ""
}

// parentOf returns the tape of the agent that started a server, or "" if that is not
// being recorded.
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

// take handles a change in the store.
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
		return f.flush(ctx) // so that live tapes do not wait for a long list of old ones
	case record.TapeDeleted:
		delete(f.tapes, c.Tape)
		return f.s.forget(c.Tape)
	case record.StoreLooked:
		return f.looked(ctx, c.Began)
	}
	return nil
}

// add handles a frame.
func (f *follower) add(ctx context.Context, c record.Change, t *followed) error {
	if t == nil { // the tape is no longer followed
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

// begin starts delivering a tape, and saves a cursor for it, so that other processes know
// that it must be delivered.
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

// end delivers the rest of a tape that has ended.
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

// flush sends what has completed: turns first, then the server calls made in them.
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

// flushAnew rereads a tape as a whole, unless the last time was too recent.
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

// looked is called once everything that was in the store at began has been seen.
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

// ErrLocked means that another process delivers to the destination.
var ErrLocked = errors.New("another acptap is sending there")

// Lock locks the destination. It waits for another process for at most s.Patience, and
// reports that it waits. The caller must unlock the destination.
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

// locked returns ErrLocked with the process that holds the lock.
func (s *Shipper) locked() error {
	if pid := s.To.Holder(); pid != 0 {
		return fmt.Errorf("%s: %w: process %d", s.Main().Name(), ErrLocked, pid)
	}
	return fmt.Errorf("%s: %w", s.Main().Name(), ErrLocked)
}

// lockEvery is the time between attempts to lock.
const lockEvery = 100 * time.Millisecond

// Run locks the destination and delivers the waiting tapes and those that begin later. It
// returns ErrLocked if another process delivers. A proxy that starts recording while Run
// holds the lock does not start another process, so after unlocking, Run looks for tapes
// that it has not seen.
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

// missed reports whether the store has tapes that Run has not seen. It reports each tape
// only once, because a tape that was killed when it began has nothing to see.
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
