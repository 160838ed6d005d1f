package ship

import (
	"context"
	"errors"
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

	// contentShare bounds what reading tapes anew costs while they are recorded: it takes
	// one part in so many of the time. Secrets are found only in what was read as a whole.
	contentShare = 20
)

// errIdle says that nothing is being recorded any more.
var errIdle = errors.New("nothing is being recorded")

// Follow delivers the tapes that are waiting and those that begin later, as they are
// recorded, until ctx is done. If untilIdle, it ends once no tape is being recorded and all
// has arrived, and at the latest a minute after the last of them has ended.
func (s *Shipper) Follow(ctx context.Context, untilIdle bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if untilIdle {
		var waiting sync.WaitGroup
		waiting.Go(func() { s.cancelIdle(ctx, cancel) })
		defer waiting.Wait()
		defer cancel(nil)
	}
	f := follower{s: s, untilIdle: untilIdle, tapes: map[string]*followed{}, servers: map[string]string{}}
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

// A follower is the state of Follow.
type follower struct {
	s         *Shipper
	untilIdle bool
	tapes     map[string]*followed // those of which something may be to be delivered
	servers   map[string]string    // those of servers, with the tapes of the agents that they wait for
}

// A followed tape is one that is read as it is recorded.
type followed struct {
	*delivery // nil before the first frame

	// With Content, only what the frames complete tells that the tape is to be read.
	due  bool
	next time.Time // when it may be read anew
}

// wanted is what Store.Watch asks of each tape.
func (f *follower) wanted(tape string, live bool) (from uint64, ok bool) {
	if !f.s.wants(tape, live) {
		return 0, false
	}
	if agent := f.s.agentOf(tape); agent != "" {
		f.servers[tape] = agent
		return 0, false
	}
	f.tapes[tape] = &followed{}
	return 1, true
}

// take takes a change.
func (f *follower) take(ctx context.Context, c record.Change) error {
	t := f.tapes[c.Tape]
	switch c.Kind {
	case record.FrameRecorded:
		if t == nil { // it has no spans
			return nil
		}
		if t.delivery == nil {
			if err := f.begin(c.Tape, t); err != nil {
				delete(f.tapes, c.Tape)
				return err
			}
		}
		sets := t.spans.Add(&c.Frame)
		if f.s.Content {
			t.due = t.due || len(sets) > 0 && c.Frame.Seq > t.arrived
			return nil
		}
		return t.add(ctx, c.Frame.Seq, sets)
	case record.TapeEnded:
		if t == nil {
			return nil
		}
		delete(f.tapes, c.Tape)
		if err := f.end(ctx, c.Tape, t); err != nil {
			return err
		}
		return f.flush(ctx) // of what is recorded beside a long list of old tapes
	case record.TapeDeleted:
		delete(f.tapes, c.Tape)
		delete(f.servers, c.Tape)
		return f.s.forget(c.Tape)
	case record.StoreLooked:
		return f.looked(ctx)
	}
	return nil
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

// readServers delivers the tapes of servers that do not wait for their agents any more.
func (f *follower) readServers(ctx context.Context) error {
	live := f.s.Store.Live()
	for tape, agent := range f.servers {
		var err error
		if slices.Contains(live, tape) || slices.Contains(live, agent) {
			if _, known := f.s.cursors[tape]; !known {
				err = f.begin(tape, &followed{})
			}
		} else {
			delete(f.servers, tape)
			err = f.readAnew(ctx, tape)
		}
		if err = f.s.unlessUnreadable(tape, err); err != nil {
			return err
		}
	}
	return nil
}

// flush sends what has completed.
func (f *follower) flush(ctx context.Context) error {
	for tape, t := range f.tapes {
		switch {
		case t.delivery == nil:
		case !f.s.Content:
			if err := t.flush(ctx); err != nil {
				return err
			}
		case t.due && !time.Now().Before(t.next):
			began := time.Now()
			if err := f.s.unlessUnreadable(tape, f.readAnew(ctx, tape)); err != nil {
				return err
			}
			t.due, t.next = false, time.Now().Add(contentShare*time.Since(began))
		}
	}
	return nil
}

// looked is called when all that was in the store has been seen.
func (f *follower) looked(ctx context.Context) error {
	if err := f.flush(ctx); err != nil {
		return err
	}
	if err := f.readServers(ctx); err != nil {
		return err
	}
	if f.untilIdle && len(f.tapes) == 0 && len(f.servers) == 0 && len(f.s.Store.Live()) == 0 {
		return errIdle
	}
	return sleep(ctx, lookEvery)
}

// ErrLocked says that another process delivers to the destination.
var ErrLocked = errors.New("another acptap delivers there")

// Lock locks the destination, and waits for others no longer than it would for the
// destination to be reached. The caller unlocks it.
func (s *Shipper) Lock(ctx context.Context) error {
	for began := time.Now(); ; {
		ok, err := s.To.Lock()
		if ok || err != nil {
			return err
		}
		if time.Since(began) >= s.Patience {
			return ErrLocked
		}
		if err := sleep(ctx, lockEvery); err != nil {
			return err
		}
	}
}

// lockEvery is how often a lock is tried.
const lockEvery = 100 * time.Millisecond

// Run locks the destination and delivers as Follow does. It returns ErrLocked if somebody
// else delivers. Who begins to record while somebody does relies on him: so once the lock is
// given back, Run looks whether there is such a one.
func (s *Shipper) Run(ctx context.Context, from *time.Time, untilIdle bool) error {
	for again := false; ; again = true {
		ok, err := s.To.Lock()
		if err == nil && !ok && !again {
			err = ErrLocked
		}
		if err != nil || !ok {
			return err
		}
		if err = s.Open(from); err == nil {
			err = s.Follow(ctx, untilIdle)
		}
		if err = errors.Join(err, s.To.Unlock()); err != nil || len(s.Store.Live()) == 0 {
			return err
		}
	}
}
