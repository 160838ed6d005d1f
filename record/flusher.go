package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/record/disk"
)

// A sealer seals the journals that one process writes, one at a time, with one codec, on
// a thread with a lower priority than the traffic. It runs while there is a flusher.
type sealer struct {
	store   *Store
	work    chan *flusher // flushers with a finished segment
	turn    chan struct{} // holds a value while a flusher is sealing: the turn
	codec   codec         // used by the holder of the turn
	hurried atomic.Int32  // closed journals that wait for their turn

	mu       sync.Mutex
	flushers map[*flusher]bool // guarded by mu: of journals that are being written
	run      *sealerRun        // guarded by mu: nil without flushers
}

// A sealerRun is the work from the first flusher until none is left.
type sealerRun struct {
	ending atomic.Bool   // the last journal was closed
	quit   chan struct{} // closed when the work after that has ended too
	done   chan struct{} // closed when all work has ended
}

// A flusher moves a journal that is being written into the tape's file. It writes blocks
// that are full or have rested, and makes the rest of the journal durable once a second,
// when the sealer lets it. When the journal is closed, another thread does the remaining
// work: next to busy processes the low-priority thread would be late.
type flusher struct {
	j      *Recorder
	store  *Store
	sealer *sealer
	run    *sealerRun
	once   sync.Once     // the last work begins once
	ending atomic.Bool   // the journal was closed
	last   bool          // it was the last one; set before the last work begins
	until  time.Time     // when the last work must end; set before that begins
	ended  chan struct{} // closed when the last work has ended
	done   chan struct{} // closed when all work that it waits for has ended
	err    error         // from releasing the lock; set before ended is closed

	mu      sync.Mutex  // held while blocks are written; guards all fields below
	work    *tapeWriter // nil until there is something to write
	failed  bool        // the last attempt failed
	faulty  bool        // an attempt panicked, or the lock was released: do not try again
	seen    int64       // end of the journal at the last tick
	durable int64       // position up to which the journal was synced
	rested  int64       // end of the journal when the last partial block was written
	changed time.Time   // when the journal was last seen to grow
}

const (
	syncEvery    = time.Second            // what a power failure can cost
	restTime     = 30 * time.Second       // after which a partial block is written
	recoverAfter = 100 * time.Millisecond // after the start, so as not to slow it down
	lastTime     = 15 * time.Millisecond  // for all work at the end, unless Store.EndTime says otherwise
	recoverTime  = 5 * time.Millisecond   // minimum left to start on the journal of another proxy

	manyWaiting  = 16 // with more journals than this, a proxy recovers some of the others right at its start
	recoverEarly = 2
)

func newSealer(s *Store) *sealer {
	return &sealer{store: s, work: make(chan *flusher), turn: make(chan struct{}, 1), flushers: map[*flusher]bool{}}
}

// start begins to flush j. The flusher releases j's lock when it ends.
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

// closed removes f, whose journal is no longer written.
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

// seal works until no journal is being written. A run that ends before any work arrives
// costs no thread.
func (s *sealer) seal(run *sealerRun) {
	var recovering sync.WaitGroup
	defer func() {
		recovering.Wait()
		close(run.done)
	}()
	if journals := s.store.journals(); len(journals) > manyWaiting {
		left := recoverEarly
		recovering.Go(func() { // one may be long, and our own journals must not wait
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

// watch tells the sealer about each segment that has ended.
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

// stop starts the remaining work, and returns when that is done or takes too long. A later
// call waits again for the same work.
func (f *flusher) stop() error {
	limit := cmp.Or(f.store.EndTime, lastTime)
	f.once.Do(func() {
		f.until = time.Now().Add(limit)
		f.sealer.closed(f)
		go f.end()
	})
	select {
	case <-f.ended:
		return f.err
	case <-time.After(limit):
		return nil
	}
}

// flushFull writes the blocks that are full.
func (f *flusher) flushFull() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.failed { // otherwise the tick tries again
		f.try(func(w *tapeWriter) error { return w.writeBlocks(false, f.stops) })
	}
}

// tick does whatever work is due.
func (f *flusher) tick() {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := f.j.End()
	if end != f.seen {
		f.durable, _ = f.j.Sync(f.durable) // retried on failure
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

// stops reports whether work on an open journal must yield to work on a closed one.
func (f *flusher) stops() bool { return f.ending.Load() || f.sealer.hurried.Load() > 0 }

// end does the remaining work when the journal is closed. After the last journal it also
// recovers some of the others. What gets no turn in time is left to the next proxy.
func (f *flusher) end() {
	f.sealer.hurried.Add(1)
	select {
	case f.sealer.turn <- struct{}{}:
		f.sealer.hurried.Add(-1)
		f.j.Release() // in turn: many at once wait for the directory, and keep closing ones from running
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

// finish writes the rest. The caller holds the turn.
func (f *flusher) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leave(f.tryNow(func(w *tapeWriter) error { return w.finish(f.late) }))
}

// leave releases the lock, as the last step: others may then recover the journal. Called
// with mu held.
func (f *flusher) leave(finished bool) {
	if finished {
		f.err = disk.RemoveLocked(f.j.lock)
	} else {
		f.err = f.j.lock.Close()
	}
	if f.work != nil {
		f.work.close()
	}
	f.faulty, f.work = true, nil // later calls find nothing to do
}

// recoverOthers recovers journals of other proxies as long as more returns true.
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

// late reports whether the time for the remaining work has run out.
func (f *flusher) late() bool { return time.Now().After(f.until) }

// try does some of the work unless another flusher is sealing. Called with mu held.
func (f *flusher) try(some func(*tapeWriter) error) bool {
	select {
	case f.sealer.turn <- struct{}{}:
		defer func() { <-f.sealer.turn }()
		return f.tryNow(some)
	default: // a closed journal has the turn; the tick tries again
		f.failed = true
		return false
	}
}

// tryNow does some of the work. If that fails, the tape stays in its journal, and the
// work is retried later, if necessary by the next proxy. If it panics, the journal is set
// aside instead. Called with mu held by the holder of the turn.
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

// begin opens the tape writer if there is none. Called with mu held.
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
