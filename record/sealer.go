package record

import (
	"time"
)

// A sealer works behind a journal that is being written: it seals what is full
// or has rested, and makes the rest durable once a second.
type sealer struct {
	j     *Journal
	store *Store
	quit  chan struct{}
	done  chan struct{}
	until time.Time // when sealing must end; set before quit is closed
	err   error     // of giving back the lock; set before done is closed

	work    *sealing  // nil until there is something to seal
	failed  bool      // the last try to seal
	seen    int64     // end of the journal at the last tick
	durable int64     // position up to which it was synced
	rested  int64     // end of the journal when the last block was sealed that was not full
	changed time.Time // when the journal was last seen to grow
}

const (
	syncEvery = time.Second           // what a power loss can take
	restTime  = 30 * time.Second      // after which a block is sealed that is not full
	lastTime  = 50 * time.Millisecond // for sealing at the end
)

// startSealer begins to work behind j. The sealer gives back j's lock when it
// ends.
func startSealer(j *Journal, store *Store) *sealer {
	s := &sealer{j: j, store: store, quit: make(chan struct{}), done: make(chan struct{}), changed: time.Now()}
	go func() {
		defer close(s.done)
		yieldToTraffic()
		s.run()
	}()
	return s
}

// stop seals what is left, and returns when that is done or took too long.
func (s *sealer) stop() error {
	s.until = time.Now().Add(lastTime)
	close(s.quit)
	select {
	case <-s.done:
		return s.err
	case <-time.After(lastTime):
		return nil
	}
}

func (s *sealer) run() {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	var adopting chan struct{}
	for {
		select {
		case <-s.quit:
			// The lock is given back last: others may seal the journal then.
			if s.seal(func(k *sealing) error { return k.finish(s.late) }) {
				s.err = removeLocked(s.j.lock)
			} else {
				s.err = s.j.lock.Close()
			}
			if s.work != nil {
				s.work.close()
			}
			if adopting != nil {
				<-adopting
			}
			s.j.telling.Wait()
			return
		case <-s.j.full:
			if !s.failed { // else the tick tries again
				s.seal(func(k *sealing) error { return k.run(false, s.late) })
			}
		case <-tick.C:
			s.tick()
			if adopting == nil {
				adopting = s.adopt()
			}
		}
	}
}

// tick does what is due by time.
func (s *sealer) tick() {
	end := s.j.end.Load()
	if end != s.seen {
		s.durable, _ = s.j.sync(s.durable) // what fails now is tried again
		s.j.prepare()                      // likewise
		s.seen, s.changed = end, time.Now()
	}
	resting := end != s.rested && time.Since(s.changed) > restTime
	if s.failed || resting {
		if s.seal(func(k *sealing) error { return k.run(resting, s.late) }) && resting {
			s.rested = end
		}
	}
}

// seal does some sealing. Where it fails, the tape stays in its journal: it is
// tried again later, and at the latest by the next proxy.
func (s *sealer) seal(some func(*sealing) error) bool {
	err := s.begin()
	if err == nil {
		err = some(s.work)
	}
	s.failed = err != nil
	return !s.failed
}

func (s *sealer) begin() error {
	if s.work != nil {
		return nil
	}
	k, err := newSealing(s.store, s.j.tape, nil, &s.j.sealed)
	if err != nil {
		return err
	}
	k.chain.end = s.j.end.Load
	s.work = k
	return nil
}

// late reports whether the journal was closed and the time for sealing is over.
func (s *sealer) late() bool {
	select {
	case <-s.quit:
		return time.Now().After(s.until)
	default:
		return false
	}
}

// adopt seals the journals of proxies that were killed.
func (s *sealer) adopt() chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		yieldToTraffic()
		s.store.Adopt(func() bool {
			select {
			case <-s.quit:
				return true
			default:
				return false
			}
		}, nil)
	}()
	return done
}
