package record

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/record/disk"
)

// A sealer works behind a journal that is being written: it seals what is full
// or has rested, and makes the rest durable once a second. It yields to the
// traffic, until there is none any more: at the end another thread does the work,
// since beside busy processes the one that yields would hardly get any time.
type sealer struct {
	j      *Recorder
	store  *Store
	ending atomic.Bool   // the journal was closed
	until  time.Time     // when the last work must end; set before that begins
	ended  chan struct{} // closed when the last work has ended
	quit   chan struct{} // closed then too: the one that yields may go
	done   chan struct{} // closed when that has gone
	err    error         // of giving back the lock; set before ended is closed

	mu      sync.Mutex // held by who seals; guards all below
	work    *sealing   // nil until there is something to seal
	failed  bool       // the last try to seal
	faulty  bool       // sealing has panicked: no more of it
	seen    int64      // end of the journal at the last tick
	durable int64      // position up to which it was synced
	rested  int64      // end of the journal when the last block was sealed that was not full
	changed time.Time  // when the journal was last seen to grow
}

const (
	syncEvery    = time.Second            // what a power loss can take
	restTime     = 30 * time.Second       // after which a block is sealed that is not full
	recoverAfter = 100 * time.Millisecond // of the start, which it shall not slow down
	lastTime     = 50 * time.Millisecond  // for all work at the end: editors kill what takes longer
	recoverTime  = 5 * time.Millisecond   // of that must be left to begin with the journal of another proxy

	manyWaiting  = 16 // journals: above that a proxy seals some of others already when it starts
	recoverEarly = 2
)

// startSealer begins to work behind j. The sealer gives back j's lock when it
// ends.
func startSealer(j *Recorder, store *Store) *sealer {
	s := &sealer{
		j: j, store: store, changed: time.Now(),
		ended: make(chan struct{}), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go s.run()
	return s
}

// stop seals what is left, and returns when that is done or took too long.
func (s *sealer) stop() error {
	s.until = time.Now().Add(lastTime)
	s.ending.Store(true)
	go s.end()
	select {
	case <-s.ended:
		return s.err
	case <-time.After(lastTime):
		return nil
	}
}

// run works until the journal is closed. A run that is over before there is
// something to do costs no thread.
func (s *sealer) run() {
	var recovering sync.WaitGroup
	defer func() {
		recovering.Wait()
		<-s.ended
		close(s.done)
	}()
	if journals := s.store.journals(); len(journals) > manyWaiting {
		left := recoverEarly
		recovering.Go(func() { // one may be long, and our own journal does not wait
			s.recoverOthers(journals, s.ending.Load, func() bool {
				left--
				return left >= 0
			})
		})
	}
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	due := time.After(recoverAfter)
	yields := false
	for {
		select {
		case <-s.quit:
			return
		case <-due:
			recovering.Go(func() {
				yieldToTraffic()
				s.store.recoverAll(false, s.ending.Load, nil)
			})
			continue
		case <-s.j.Full():
			if !yields {
				yieldToTraffic()
				yields = true
			}
			s.sealFull()
		case <-tick.C:
			if !yields {
				yieldToTraffic()
				yields = true
			}
			s.tick()
		}
	}
}

// sealFull seals what is full.
func (s *sealer) sealFull() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.failed { // else the tick tries again
		s.seal(func(k *sealing) error { return k.run(false, s.ending.Load) })
	}
}

// tick does what is due by time.
func (s *sealer) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.j.End()
	if end != s.seen {
		s.durable, _ = s.j.Sync(s.durable) // what fails now is tried again
		s.j.Prepare()                      // likewise
		s.seen, s.changed = end, time.Now()
	}
	resting := end != s.rested && time.Since(s.changed) > restTime
	if s.failed || resting {
		if s.seal(func(k *sealing) error { return k.run(resting, s.ending.Load) }) && resting {
			s.rested = end
		}
	}
}

// end does what is left when the journal is closed, and then a part of what others
// have left.
func (s *sealer) end() {
	defer close(s.quit)
	defer close(s.ended)
	s.mu.Lock()
	// The lock is given back last: others may seal the journal then.
	if s.seal(func(k *sealing) error { return k.finish(s.late) }) {
		s.err = disk.RemoveLocked(s.j.lock)
	} else {
		s.err = s.j.lock.Close()
	}
	if s.work != nil {
		s.work.close()
	}
	s.mu.Unlock()
	s.recoverOthers(s.store.journals(), s.late, func() bool { return time.Until(s.until) > recoverTime })
}

// recoverOthers seals journals of others, as long as more says so.
func (s *sealer) recoverOthers(journals map[string][]int64, stop, more func() bool) {
	for _, tape := range slices.Sorted(maps.Keys(journals)) {
		if s.store.isLive(tape) {
			continue
		}
		if !more() {
			return
		}
		s.store.recoverTape(tape, journals[tape], false, stop)
	}
}

// late reports whether the time for the last work is over.
func (s *sealer) late() bool { return time.Now().After(s.until) }

// seal does some sealing. Where it fails, the tape stays in its journal: it is
// tried again later, and at the latest by the next proxy. Where it panics it is
// not tried again: the journal is set aside. Called with mu held.
func (s *sealer) seal(some func(*sealing) error) bool {
	if s.faulty {
		return false
	}
	err := guarded(func() error {
		if err := s.begin(); err != nil {
			return err
		}
		return some(s.work)
	})
	s.failed = err != nil
	if fault := asFault(err); fault != nil {
		if s.work != nil {
			s.work.close()
		}
		s.faulty, s.work = true, nil
		setAside(s.j.lock, fault)
		s.j.Fault(fmt.Errorf("sealing the tape: %w", fault))
		if s.store.Trouble != nil {
			s.store.Trouble(fmt.Errorf("tape %s stays in its journal, which is written on: sealing it has failed: %w", s.j.Tape(), fault))
		}
	}
	return !s.failed
}

// begin makes the sealing, if there is none. Called with mu held.
func (s *sealer) begin() error {
	if s.work != nil {
		return nil
	}
	k, err := newSealing(s.store, s.j.Tape(), nil, &s.j.sealed)
	if err != nil {
		return err
	}
	k.journal.End = s.j.End
	s.work = k
	return nil
}
