package acptest

import (
	"io"
	"sync"
)

// An unboundedPipe is a pipe whose writes never block, so that a test that no longer
// reads does not hold up the agent that is played to it.
type unboundedPipe struct {
	mu     sync.Mutex
	more   *sync.Cond
	data   []byte // guarded by mu: what was written and not read
	closed bool   // guarded by mu
}

func newUnboundedPipe() *unboundedPipe {
	s := &unboundedPipe{}
	s.more = sync.NewCond(&s.mu)
	return s
}

func (s *unboundedPipe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, io.ErrClosedPipe
	}
	s.data = append(s.data, p...)
	s.more.Signal()
	return len(p), nil
}

func (s *unboundedPipe) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.data) == 0 && !s.closed {
		s.more.Wait()
	}
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.data)
	s.data = s.data[n:]
	return n, nil
}

// Close is for both ends. What was written before can be read.
func (s *unboundedPipe) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.more.Broadcast()
	return nil
}
