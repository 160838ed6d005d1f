package rpc

import (
	"io"
	"sync"
)

// A Queue writes lines to an agent. Send never blocks: an agent may write before it
// reads, and waiting for it to read would then be a deadlock.
type Queue struct {
	done chan struct{}

	mu      sync.Mutex
	more    *sync.Cond
	waiting [][]byte // guarded by mu
	closed  bool     // guarded by mu: no more lines will be added
}

// NewQueue returns a Queue that writes to w. It closes w after the last line.
func NewQueue(w io.WriteCloser) *Queue {
	f := &Queue{done: make(chan struct{})}
	f.more = sync.NewCond(&f.mu)
	go f.write(w)
	return f
}

// Written returns a channel that is closed when every line has been written, or when
// the agent no longer reads.
func (f *Queue) Written() <-chan struct{} { return f.done }

// Send adds a line, which has no line feed. It keeps no reference to line.
func (f *Queue) Send(line []byte) {
	f.mu.Lock()
	f.waiting = append(f.waiting, append(line[:len(line):len(line)], '\n'))
	f.mu.Unlock()
	f.more.Signal()
}

// Close says that no more lines will be added.
func (f *Queue) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.more.Signal()
}

func (f *Queue) write(w io.WriteCloser) {
	defer close(f.done)
	defer w.Close()
	for {
		f.mu.Lock()
		for len(f.waiting) == 0 && !f.closed {
			f.more.Wait()
		}
		lines := f.waiting
		f.waiting = nil
		f.mu.Unlock()
		if len(lines) == 0 {
			return
		}
		for _, line := range lines {
			if _, err := w.Write(line); err != nil {
				return // the agent no longer reads; how it ended is reported elsewhere
			}
		}
	}
}
