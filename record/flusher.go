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

// A sealer seals the journals that one process writes, one at a time: with one codec, and
// on one thread of a lower priority than the traffic. It works while there is a flusher.
type sealer struct {
	store   *Store
	work    chan *flusher // those of which a segment has ended
	turn    chan struct{} // holds a value while somebody seals
	codec   codec         // of whose turn it is
	hurried atomic.Int32  // closed journals that wait for their turn

	mu       sync.Mutex
	flushers map[*flusher]bool // guarded by mu: with a journal that is being written
	run      *sealerRun        // guarded by mu: nil while there are none
}

// A sealerRun is the work from the first flusher on until there is none any more.
type sealerRun struct {
	ending atomic.Bool   // the last journal was closed
	quit   chan struct{} // closed when the work for that has ended too
	done   chan struct{} // closed when nothing works any more
}

// A flusher works behind a journal that is being written. It writes blocks that are
// full, or have rested, into the tape's file, and makes the rest of the journal
// durable once a second, when the sealer lets it. When the journal is closed another
// thread does the work that is left: beside busy processes the first one would hardly
// get any time.
type flusher struct {
	j      *Recorder
	store  *Store
	sealer *sealer
	run    *sealerRun
	ending atomic.Bool   // the journal was closed
	last   bool          // it was the last one; set before the last work begins
	until  time.Time     // when the last work must end; set before that begins
	ended  chan struct{} // closed when the last work has ended
	done   chan struct{} // closed when all work has ended that it waits for
	err    error         // of giving back the lock; set before ended is closed

	mu      sync.Mutex  // held while blocks are written; guards all below
	work    *tapeWriter // nil until there is something to write
	failed  bool        // the last try
	faulty  bool        // a try has panicked, or the lock was given back: there is no other try
	seen    int64       // end of the journal at the last tick
	durable int64       // position up to which it was synced
	rested  int64       // end of the journal when the last block was written that was not full
	changed time.Time   // when the journal was last seen to grow
}

const (
	syncEvery    = time.Second            // what a power loss can take
	restTime     = 30 * time.Second       // after which a block is written that is not full
	recoverAfter = 100 * time.Millisecond // of the start, which it shall not slow down
	lastTime     = 15 * time.Millisecond  // for all work at the end: editors kill what takes longer
	recoverTime  = 5 * time.Millisecond   // of that must be left to begin with the journal of another proxy

	manyWaiting  = 16 // journals: above that a proxy recovers some of others already when it starts
	recoverEarly = 2
)

func newSealer(s *Store) *sealer {
	return &sealer{store: s, work: make(chan *flusher), turn: make(chan struct{}, 1), flushers: map[*flusher]bool{}}
}

// start begins to work behind j. The flusher gives back j's lock when it ends.
func (s *sealer) start(j *Recorder) *flusher {
	f := &flusher{
		j: j, store: s.store, sealer: s, changed: time.Now(),
		ended: make(chan struct{}), done: make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		s.run = &sealerRun{quit: make(chan struct{}), done: make(chan struct{})}
		go s.seal(s.run)
	}
	f.run = s.run
	s.flushers[f] = true
	go f.watch()
	return f
}

// closed takes it that the journal of f is written no more.
func (s *sealer) closed(f *flusher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.flushers, f)
	f.ending.Store(true)
	if f.last = len(s.flushers) == 0; f.last {
		f.run.ending.Store(true)
		s.run = nil
	}
}

// all returns the flushers of a run.
func (s *sealer) all(run *sealerRun) (list []*flusher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.flushers {
		if f.run == run {
			list = append(list, f)
		}
	}
	return list
}

// seal works until no journal is written. A run that is over before there is something
// to do costs no thread.
func (s *sealer) seal(run *sealerRun) {
	var recovering sync.WaitGroup
	defer func() {
		recovering.Wait()
		close(run.done)
	}()
	if journals := s.store.journals(); len(journals) > manyWaiting {
		left := recoverEarly
		recovering.Go(func() { // one may be long, and our own journals do not wait
			s.store.recoverOthers(journals, run.ending.Load, func() bool {
				left--
				return left >= 0
			})
		})
	}
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	due := time.After(recoverAfter)
	yields := false
	yield := func() {
		if !yields {
			LowerPriority()
			yields = true
		}
	}
	for {
		select {
		case <-run.quit:
			return
		case <-due:
			recovering.Go(func() {
				LowerPriority()
				s.store.recoverAll(false, run.ending.Load, nil)
			})
		case f := <-s.work:
			yield()
			f.flushFull()
		case <-tick.C:
			yield()
			for _, f := range s.all(run) {
				f.tick()
			}
		}
	}
}

// watch tells the sealer of each segment that has ended.
func (f *flusher) watch() {
	for {
		select {
		case <-f.ended:
			return
		case <-f.j.Full():
		}
		select {
		case <-f.ended:
			return
		case f.sealer.work <- f:
		}
	}
}

// stop writes what is left, and returns when that is done or took too long.
func (f *flusher) stop() error {
	f.until = time.Now().Add(lastTime)
	f.sealer.closed(f)
	go f.end()
	select {
	case <-f.ended:
		return f.err
	case <-time.After(lastTime):
		return nil
	}
}

// flushFull writes the blocks that are full.
func (f *flusher) flushFull() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.failed { // else the tick tries again
		f.try(func(w *tapeWriter) error { return w.writeBlocks(false, f.stops) })
	}
}

// tick does what is due by time.
func (f *flusher) tick() {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := f.j.End()
	if end != f.seen {
		f.durable, _ = f.j.Sync(f.durable) // what fails now is tried again
		f.j.Prepare()                      // likewise
		f.seen, f.changed = end, time.Now()
	}
	resting := end != f.rested && time.Since(f.changed) > restTime
	if f.failed || resting {
		if f.try(func(w *tapeWriter) error { return w.writeBlocks(resting, f.stops) }) && resting {
			f.rested = end
		}
	}
}

// stops reports whether the work behind a journal that is written is to make room for
// that behind one that was closed.
func (f *flusher) stops() bool { return f.ending.Load() || f.sealer.hurried.Load() > 0 }

// end does what is left when the journal is closed, and after the last one a part of
// what others have left. Where that gets no turn in time, the next proxy does it.
func (f *flusher) end() {
	f.sealer.hurried.Add(1)
	select {
	case f.sealer.turn <- struct{}{}:
		f.sealer.hurried.Add(-1)
		f.j.Release() // in turn: many at once wait for the directory, and keep those that close from running
		f.finish()
		<-f.sealer.turn
	case <-time.After(time.Until(f.until)):
		f.sealer.hurried.Add(-1)
		f.j.Release()
		f.mu.Lock()
		f.leave(false)
		f.mu.Unlock()
	}
	if f.last {
		f.store.recoverOthers(f.store.journals(), f.late, func() bool { return time.Until(f.until) > recoverTime })
		close(f.run.quit)
	}
	close(f.ended)
	if f.last {
		<-f.run.done
	}
	close(f.done)
}

// finish writes what is left. Called by whose turn it is.
func (f *flusher) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leave(f.tryNow(func(w *tapeWriter) error { return w.finish(f.late) }))
}

// leave gives back the lock, last: others may recover the journal then. Called with mu
// held.
func (f *flusher) leave(finished bool) {
	if finished {
		f.err = disk.RemoveLocked(f.j.lock)
	} else {
		f.err = f.j.lock.Close()
	}
	if f.work != nil {
		f.work.close()
	}
	f.faulty, f.work = true, nil // who comes late finds nothing to do
}

// recoverOthers recovers journals of others, as long as more says so.
func (s *Store) recoverOthers(journals map[string][]int64, stop, more func() bool) {
	for _, tape := range slices.Sorted(maps.Keys(journals)) {
		if s.isLive(tape) {
			continue
		}
		if !more() {
			return
		}
		s.recoverTape(tape, journals[tape], false, stop)
	}
}

// late reports whether the time for the last work is over.
func (f *flusher) late() bool { return time.Now().After(f.until) }

// try does some of the work when nobody else seals, unless that is over by then. Called
// with mu held.
func (f *flusher) try(some func(*tapeWriter) error) bool {
	select {
	case f.sealer.turn <- struct{}{}:
		defer func() { <-f.sealer.turn }()
		return f.tryNow(some)
	default: // somebody who closes a journal; the tick tries again
		f.failed = true
		return false
	}
}

// tryNow does some of the work. Where that fails, the tape stays in its journal: it is
// tried again later, and at the latest by the next proxy. Where it panics it is
// not tried again: the journal is set aside. Called with mu held by whose turn it is.
func (f *flusher) tryNow(some func(*tapeWriter) error) bool {
	if f.faulty {
		return false
	}
	err := guarded(func() error {
		if err := f.begin(); err != nil {
			return err
		}
		return some(f.work)
	})
	f.failed = err != nil
	if fault := faultIn(err); fault != nil {
		if f.work != nil {
			f.work.close()
		}
		f.faulty, f.work, f.sealer.codec = true, nil, codec{}
		setAside(f.j.lock, fault)
		f.j.Fault(fmt.Errorf("sealing the tape: %w", fault))
		if f.store.OnError != nil {
			f.store.OnError(fmt.Errorf("tape %s stays in its journal, which is written on: sealing it has failed: %w", f.j.Tape(), fault))
		}
	}
	return !f.failed
}

// begin opens the tape writer, if there is none. Called with mu held.
func (f *flusher) begin() error {
	if f.work != nil {
		return nil
	}
	w, err := newTapeWriter(f.store, f.j.Tape(), nil, &f.j.saved, &f.sealer.codec)
	if err != nil {
		return err
	}
	w.journal.End = f.j.End
	f.work = w
	return nil
}
