package shim

import (
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// jobs are what the shim does beside the traffic: servings, watches, looks into
// the store.
type jobs struct {
	running int                // only in acts
	work    sync.WaitGroup     // those that run
	ready   [2]chan<- struct{} // by direction, of streams that have ended: closed when that may be passed on; nil: nobody waits
	limit   *time.Timer        // of how long the end of the client's is kept back; nil: it was not
	over    chan struct{}      // closed when the agent will not answer any more
	once    sync.Once          // closes over
}

// spawn begins a job. It is called in an act.
func (s *Shim) spawn(job func()) {
	s.running++
	s.work.Go(func() {
		defer func() {
			if v := recover(); v != nil { // it goes on where the proxy catches it
				s.do(func([]wire.Frame) []wire.Frame { panic(v) })
			}
		}()
		job()
		s.do(func(out []wire.Frame) []wire.Frame {
			s.running--
			s.endIfIdle()
			return out
		})
	})
}

// End is called by the proxy when a stream has ended. A client that has said all
// that it has to say, such as one that is piped in, still gets what it asked
// for: its end is kept from the agent until that is done, though not for longer
// than an agent may be silent, and then again at what the shim asks of it
// instead. Once the agent has said its last word, only what needs no agent is
// still done.
func (s *Shim) End(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	s.kept.begin()
	ready := make(chan struct{})
	s.ready[dir] = ready
	if dir == wire.AgentToClient {
		s.once.Do(func() { close(s.over) })
		s.kept.drop(s.early...)
		s.stage, s.early = aside, nil
	}
	s.endIfIdle()
	if dir == wire.ClientToAgent && s.ready[dir] != nil {
		s.limit = time.AfterFunc(2*s.patience(), func() {
			s.do(func(out []wire.Frame) []wire.Frame {
				s.passEnd(dir)
				return out
			})
		})
	}
	return out, ready
}

// endIfIdle passes on the ends of streams once nothing is left to do.
func (s *Shim) endIfIdle() {
	if s.running == 0 && len(s.early) == 0 {
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
	s.once.Do(func() { close(s.over) })
	s.work.Wait()
}
