package shim

import (
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// jobs are the goroutines that run alongside the traffic. They serve requests, watch
// loads that the agent serves, and query the store.
type jobs struct {
	running int            // number of jobs the client waits for
	all     sync.WaitGroup // has its own lock
	slots   chan struct{}  // has an element for each session that is being opened from the store; jobs use it outside acts
}

const (
	// maxServed limits how many client requests are served at once, including those that
	// wait for a slot.
	maxServed = 1024

	// maxOpening limits how many sessions are opened from the store at once: each needs
	// memory for its history.
	maxOpening = 8
)

// tooMany is the answer to a request that would exceed a limit.
var tooMany = fault{wire.InternalError, "acptap has no room for more requests at once", nil}

// full reports whether serving the request m would exceed a limit.
func (s *Shim) full(m message) bool { return s.jobs.running >= maxServed || !s.held.room(m) }

// startJob starts a job that the client waits for. The end of each stream waits for it
// too.
func (s *Shim) startJob(job func()) {
	s.jobs.running++
	s.startBackground(func() {
		job()
		s.change(func() {
			s.jobs.running--
			s.endIfIdle()
		})
	})
}

// startBackground starts a job that only Close waits for.
func (s *Shim) startBackground(job func()) {
	s.jobs.all.Go(func() {
		defer s.handPanic()
		job()
	})
}

// handPanic moves a panic into an act, where the proxy recovers it. It must be deferred.
func (s *Shim) handPanic() {
	if v := recover(); v != nil {
		s.do(func([]wire.Frame) []wire.Frame { panic(v) })
	}
}
