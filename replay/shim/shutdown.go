package shim

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// endWait is how long the end of the client's stream is kept back from an agent that
// sends nothing while the shim still has requests for it.
const endWait = 2 * time.Second

// End is called by the proxy when a stream has ended. After the end of the client's
// stream, its requests are still served, as for a client that is a pipe: the end is kept
// back from the agent until that is done, as long as the agent sends something. After the
// end of the agent's stream, only what needs no agent is still served.
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

// endRest returns how much longer the end of the client's stream is kept back if the
// agent sends nothing.
func (s *Shim) endRest() time.Duration {
	return min(min(endWait, s.patience())-time.Since(s.heard), 2*s.patience()-time.Since(s.ended[wire.ClientToAgent]))
}

// hear notes that the agent has sent something.
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

// Close ends all jobs and releases all leases. It is called when the proxy has returned.
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
