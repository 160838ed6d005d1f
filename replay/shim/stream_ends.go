package shim

import (
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// streamEnds tracks the end of the connection. The end of a stream is delayed until the
// jobs that the client waits for are done.
type streamEnds struct {
	at        [2]time.Time       // by direction, when the stream ended; zero: still open
	ready     [2]chan<- struct{} // by direction, closed when the end may be passed on; nil: no end is delayed
	spoke     bool               // the agent has sent something
	heard     time.Time          // when it last did, while the end of the client's stream is delayed
	limit     *time.Timer        // limits the delay of the end of the client's stream; nil: no delay yet
	agentGone chan struct{}      // closed when the agent will send no more answers; jobs wait for it outside acts
	once      sync.Once          // closes agentGone
	closed    chan struct{}      // closed by Close; jobs read it outside acts
}

// endWait limits how long the end of the client's stream is delayed while an agent that has
// started sends nothing. One that is starting has the shim's patience.
const endWait = 2 * time.Second

// End handles the end of a stream. The proxy calls it, and passes the end on when the
// returned channel is closed.
//
// A client that is a pipe ends its stream before it has its answers. So the shim
// continues serving its requests, and delays the end while the agent sends something.
// After the agent's stream ends, the shim serves only what needs no agent.
func (s *Shim) End(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	s.held.begin()
	ready := make(chan struct{})
	s.ends.ready[dir] = ready
	s.ends.at[dir] = time.Now()
	if dir == wire.AgentToClient {
		s.ends.loseAgent()
		s.held.drop(s.early...)
		s.stage, s.early = passive, nil
	}
	s.endIfIdle()
	if dir == wire.ClientToAgent && s.ends.ready[dir] != nil {
		s.ends.heard = time.Now()
		s.ends.limit = time.AfterFunc(s.endRest(), func() {
			s.change(func() {
				if rest := s.endRest(); rest > 0 {
					s.ends.limit.Reset(rest)
				} else {
					s.ends.pass(dir)
				}
			})
		})
	}
	return out, ready
}

// endRest returns the remaining delay of the end of the client's stream if the agent
// sends nothing.
func (s *Shim) endRest() time.Duration {
	silence := s.patience()
	if s.ends.spoke {
		silence = min(silence, endWait)
	}
	return min(silence-time.Since(s.ends.heard), 2*s.patience()-time.Since(s.ends.at[wire.ClientToAgent]))
}

// endIfIdle passes the delayed ends on if nothing remains to be done.
func (s *Shim) endIfIdle() {
	if s.jobs.running == 0 && len(s.early) == 0 && len(s.lookup.parked) == 0 {
		s.ends.pass(wire.ClientToAgent)
		s.ends.pass(wire.AgentToClient)
	}
}

// hear notes that the agent has sent something.
func (e *streamEnds) hear() {
	e.spoke = true
	if e.ready[wire.ClientToAgent] != nil {
		e.heard = time.Now()
	}
}

func (e *streamEnds) pass(dir wire.Direction) {
	if ready := e.ready[dir]; ready != nil {
		close(ready)
		e.ready[dir] = nil
	}
}

func (e *streamEnds) loseAgent() { e.once.Do(func() { close(e.agentGone) }) }

// Close ends all jobs and releases all leases. Call it when the proxy has returned.
func (s *Shim) Close() {
	if s.ends.closed == nil {
		return // Start was never called
	}
	if s.ends.limit != nil {
		s.ends.limit.Stop()
	}
	select {
	case <-s.ends.closed:
		return
	default:
		close(s.ends.closed)
	}
	s.ends.loseAgent()
	s.jobs.all.Wait()
	for _, c := range s.byClientID {
		c.releaseLease()
	}
}
