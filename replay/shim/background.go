package shim

import (
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// background has the state of the jobs that run beside the traffic: they serve requests,
// watch loads that the agent serves, and query the store. It also has the ends of the
// streams, which wait for jobs.
type background struct {
	running int                // jobs that the client waits for; only in acts
	work    sync.WaitGroup     // all jobs
	ended   [2]time.Time       // by direction, when the stream ended; zero: it goes on
	ready   [2]chan<- struct{} // by direction, closed when the end of the stream may be passed on; nil: nobody waits
	heard   time.Time          // when the agent last sent something, once the client's stream has ended
	limit   *time.Timer        // limits how long the end of the client's stream is kept back; nil: it was not
	over    chan struct{}      // closed when the agent will not answer any more
	once    sync.Once          // closes over
	closed  chan struct{}      // closed when the proxy has returned
	slots   chan struct{}      // has a value for each session that is being opened from the store
}

const (
	// maxServed is how many requests of the client are served at once, including
	// those that wait for a slot.
	maxServed = 1024

	// maxOpening is how many sessions are opened from the store at once: each needs
	// memory for its history.
	maxOpening = 8
)

// tooMany is the answer to a request that cannot be served because of a limit.
var tooMany = fault{rpc.InternalError, "acptap has no room for more requests at once", nil}

// full reports whether there is no room to serve another request.
func (s *Shim) full(m message) bool { return s.running >= maxServed || !s.kept.room(m) }

// spawn starts a job that the client waits for. It is called in an act.
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

// inBackground starts a job that nobody waits for.
func (s *Shim) inBackground(job func()) {
	s.work.Go(func() {
		defer s.handPanic()
		job()
	})
}

// handPanic passes a panic on to a place where the proxy catches it. It is deferred.
func (s *Shim) handPanic() {
	if v := recover(); v != nil {
		s.do(func([]wire.Frame) []wire.Frame { panic(v) })
	}
}

// slot waits until one more session may be opened. The caller calls free when the opening
// has ended.
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
