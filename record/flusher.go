package record

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/internal/guard"
	"github.com/acptap/acptap/record/priority"
)

// A flusher works behind a journal that is being written. It writes blocks that are
// full, or have rested, into the tape's file, and makes the rest of the journal
// durable once a second. Its thread has a lower priority than the traffic. When the
// journal is closed another thread does the work that is left: beside busy processes
// the first one would hardly get any time.
type flusher struct {
	j      *Recorder
	store  *Store
	ending atomic.Bool   // the journal was closed
	until  time.Time     // when the last work must end; set before that begins
	ended  chan struct{} // closed when the last work has ended
	quit   chan struct{} // closed then too: the one that yields may go
	done   chan struct{} // closed when that has gone
	err    error         // of giving back the lock; set before ended is closed

	mu      sync.Mutex  // held while blocks are written; guards all below
	work    *tapeWriter // nil until there is something to write
	failed  bool        // the last try
	faulty  bool        // a try has panicked: there is no other
	seen    int64       // end of the journal at the last tick
	durable int64       // position up to which it was synced
	rested  int64       // end of the journal when the last block was written that was not full
	changed time.Time   // when the journal was last seen to grow
}

const (
	syncEvery    = time.Second            // what a power loss can take
	restTime     = 30 * time.Second       // after which a block is written that is not full
	recoverAfter = 100 * time.Millisecond // of the start, which it shall not slow down
	lastTime     = 50 * time.Millisecond  // for all work at the end: editors kill what takes longer
	recoverTime  = 5 * time.Millisecond   // of that must be left to begin with the journal of another proxy

	manyWaiting  = 16 // journals: above that a proxy recovers some of others already when it starts
	recoverEarly = 2
)

// startFlusher begins to work behind j. The flusher gives back j's lock when it
// ends.
func startFlusher(j *Recorder, store *Store) *flusher {
	f := &flusher{
		j: j, store: store, changed: time.Now(),
		ended: make(chan struct{}), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go f.run()
	return f
}

// stop writes what is left, and returns when that is done or took too long.
func (f *flusher) stop() error {
	f.until = time.Now().Add(lastTime)
	f.ending.Store(true)
	go f.end()
	select {
	case <-f.ended:
		return f.err
	case <-time.After(lastTime):
		return nil
	}
}

// run works until the journal is closed. A run that is over before there is
// something to do costs no thread.
func (f *flusher) run() {
	var recovering sync.WaitGroup
	defer func() {
		recovering.Wait()
		<-f.ended
		close(f.done)
	}()
	if journals := f.store.journals(); len(journals) > manyWaiting {
		left := recoverEarly
		recovering.Go(func() { // one may be long, and our own journal does not wait
			f.recoverOthers(journals, f.ending.Load, func() bool {
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
		case <-f.quit:
			return
		case <-due:
			recovering.Go(func() {
				priority.Lower()
				f.store.recoverAll(false, f.ending.Load, nil)
			})
			continue
		case <-f.j.Full():
			if !yields {
				priority.Lower()
				yields = true
			}
			f.flushFull()
		case <-tick.C:
			if !yields {
				priority.Lower()
				yields = true
			}
			f.tick()
		}
	}
}

// flushFull writes the blocks that are full.
func (f *flusher) flushFull() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.failed { // else the tick tries again
		f.try(func(w *tapeWriter) error { return w.writeBlocks(false, f.ending.Load) })
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
		if f.try(func(w *tapeWriter) error { return w.writeBlocks(resting, f.ending.Load) }) && resting {
			f.rested = end
		}
	}
}

// end does what is left when the journal is closed, and then a part of what others
// have left.
func (f *flusher) end() {
	defer close(f.quit)
	defer close(f.ended)
	f.mu.Lock()
	// The lock is given back last: others may recover the journal then.
	if f.try(func(w *tapeWriter) error { return w.finish(f.late) }) {
		f.err = disk.RemoveLocked(f.j.lock)
	} else {
		f.err = f.j.lock.Close()
	}
	if f.work != nil {
		f.work.close()
	}
	f.mu.Unlock()
	f.recoverOthers(f.store.journals(), f.late, func() bool { return time.Until(f.until) > recoverTime })
}

// recoverOthers recovers journals of others, as long as more says so.
func (f *flusher) recoverOthers(journals map[string][]int64, stop, more func() bool) {
	for _, tape := range slices.Sorted(maps.Keys(journals)) {
		if f.store.isLive(tape) {
			continue
		}
		if !more() {
			return
		}
		f.store.recoverTape(tape, journals[tape], false, stop)
	}
}

// late reports whether the time for the last work is over.
func (f *flusher) late() bool { return time.Now().After(f.until) }

// try does some of the work. Where that fails, the tape stays in its journal: it is
// tried again later, and at the latest by the next proxy. Where it panics it is
// not tried again: the journal is set aside. Called with mu held.
func (f *flusher) try(some func(*tapeWriter) error) bool {
	if f.faulty {
		return false
	}
	err := guard.Run(func() error {
		if err := f.begin(); err != nil {
			return err
		}
		return some(f.work)
	})
	f.failed = err != nil
	if fault := guard.FaultIn(err); fault != nil {
		if f.work != nil {
			f.work.close()
		}
		f.faulty, f.work = true, nil
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
	w, err := newTapeWriter(f.store, f.j.Tape(), nil, &f.j.saved)
	if err != nil {
		return err
	}
	w.journal.End = f.j.End
	f.work = w
	return nil
}
