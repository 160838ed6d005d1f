package shim

import (
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// jobs are what the shim does beside the traffic: servings, watches, looks into
// the store.
type background struct {
	running int                // of those that the client waits for; only in acts
	work    sync.WaitGroup     // all of them
	ended   [2]time.Time       // by direction, when the stream has ended; zero: it goes on
	ready   [2]chan<- struct{} // by direction, of streams that have ended: closed when that may be passed on; nil: nobody waits
	heard   time.Time          // when the agent last said something, once the client's stream has ended
	limit   *time.Timer        // of how long the end of the client's is kept back; nil: it was not
	over    chan struct{}      // closed when the agent will not answer any more
	once    sync.Once          // closes over
	closed  chan struct{}      // closed when the proxy has returned
	slots   chan struct{}      // has one for each session that is being opened from the store
}

const (
	// maxServed is how many requests of the client are served at once. Those that
	// wait for one of maxOpening are among them.
	maxServed = 1024

	// maxOpening is how many sessions are opened from the store at once: each
	// takes its history's memory.
	maxOpening = 8

	// endWait is how long the end of the client's stream is kept from an agent
	// that says nothing, for what is still to be asked of it.
	endWait = 2 * time.Second
)

// tooMany is the answer to a request that would be one too many.
var tooMany = fault{internalError, "acptap has no room for more requests at once", nil}

// full reports whether a request is one too many.
func (s *Shim) full(m message) bool { return s.running >= maxServed || !s.kept.room(m) }

// spawn begins a job that the client waits for. It is called in an act.
func (s *Shim) spawn(job func()) {
	s.running++
	s.inBackground(func() {
		job()
		s.do(func(out []wire.Frame) []wire.Frame {
			s.running--
			s.endIfIdle()
			return out
		})
	})
}

// beside begins a job that nobody waits for.
func (s *Shim) inBackground(job func()) {
	s.work.Go(func() {
		defer s.handPanic()
		job()
	})
}

// handPanic lets a panic go on where the proxy catches it. It is deferred.
func (s *Shim) handPanic() {
	if v := recover(); v != nil {
		s.do(func([]wire.Frame) []wire.Frame { panic(v) })
	}
}

// slot waits until one more session may be opened. What it returns is called when
// that has ended.
func (s *Shim) slot(gone <-chan struct{}) (free func(), err error) {
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	case <-gone:
		return nil, errCancelled
	case <-s.over:
		return nil, errOver
	}
}

// End is called by the proxy when a stream has ended. A client that has said all
// that it has to say, such as one that is piped in, still gets what it asked
// for: its end is kept from the agent until that is done, as long as the agent
// says something. Once the agent has said its last word, only what needs no agent
// is still done.
func (s *Shim) End(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	s.kept.begin()
	ready := make(chan struct{})
	s.ready[dir] = ready
	s.ended[dir] = time.Now()
	if dir == wire.AgentToClient {
		s.once.Do(func() { close(s.over) })
		s.kept.drop(s.early...)
		s.stage, s.early = passive, nil
	}
	s.endIfIdle()
	if dir == wire.ClientToAgent && s.ready[dir] != nil {
		s.heard = time.Now()
		s.limit = time.AfterFunc(s.endRest(), func() {
			s.do(func(out []wire.Frame) []wire.Frame {
				if rest := s.endRest(); rest > 0 {
					s.limit.Reset(rest)
				} else {
					s.passEnd(dir)
				}
				return out
			})
		})
	}
	return out, ready
}

// endRest returns how much longer the end of the client's stream is kept from the
// agent, if that says nothing.
func (s *Shim) endRest() time.Duration {
	return min(min(endWait, s.patience())-time.Since(s.heard), 2*s.patience()-time.Since(s.ended[wire.ClientToAgent]))
}

// hear notes that the agent has said something.
func (s *Shim) hear() {
	if s.ready[wire.ClientToAgent] != nil {
		s.heard = time.Now()
	}
}

// endIfIdle passes on the ends of streams once nothing is left to do.
func (s *Shim) endIfIdle() {
	if s.running == 0 && len(s.early) == 0 && len(s.parked) == 0 {
		s.passEnd(wire.ClientToAgent)
		s.passEnd(wire.AgentToClient)
	}
}

func (s *Shim) passEnd(dir wire.Direction) {
	if ready := s.ready[dir]; ready != nil {
		close(ready)
		s.ready[dir] = nil
	}
}

// Close ends what is still under way. It is called when the proxy has returned.
func (s *Shim) Close() {
	if s.over == nil {
		return // never started
	}
	if s.limit != nil {
		s.limit.Stop()
	}
	select {
	case <-s.closed:
		return
	default:
		close(s.closed)
	}
	s.once.Do(func() { close(s.over) })
	s.work.Wait()
	for _, c := range s.sessions {
		c.releaseLease()
	}
}
