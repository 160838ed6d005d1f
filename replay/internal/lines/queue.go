package lines

import (
	"io"
	"sync"
)

// A Queue gives an agent its lines. It takes them all at once: an agent may write
// before it reads, and must not be waited for then.
type Queue struct {
	done chan struct{}

	mu      sync.Mutex
	more    *sync.Cond
	waiting [][]byte // guarded by mu
	closed  bool     // guarded by mu: nothing will be added
}

// NewQueue writes to w, and closes it behind the last line.
func NewQueue(w io.WriteCloser) *Queue {
	f := &Queue{done: make(chan struct{})}
	f.more = sync.NewCond(&f.mu)
	go f.write(w)
	return f
}

// Written returns a channel that is closed when all was given to the agent, or it
// takes no more.
func (f *Queue) Written() <-chan struct{} { return f.done }

func (f *Queue) Send(line []byte) {
	f.mu.Lock()
	f.waiting = append(f.waiting, append(line[:len(line):len(line)], '\n'))
	f.mu.Unlock()
	f.more.Signal()
}

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
				return // it takes no more; its end tells the rest
			}
		}
	}
}
