package proxy

import (
	"io"
	"sync"
)

// A Pipe is a pipe within this process whose writes never block; otherwise a peer that
// writes before it reads would deadlock. A Pipe can be a Proxy's In.
type Pipe struct {
	mu      sync.Mutex
	changed sync.Cond
	data    []byte        // guarded by mu: written but not read
	ended   bool          // guarded by mu: no more writes
	closed  bool          // guarded by mu: no more reads
	drained chan struct{} // closed when the reader has reached the end, or stops reading
	drain   sync.Once     // closes drained
}

// NewPipe returns an empty Pipe.
func NewPipe() *Pipe {
	p := &Pipe{drained: make(chan struct{})}
	p.changed.L = &p.mu
	return p
}

// Write adds bytes. It fails if the Pipe has ended or is closed.
func (p *Pipe) Write(b []byte) (int, error) {
	if !p.Put(b) {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// Put adds bytes in several parts. It returns false if the Pipe has ended or is closed.
func (p *Pipe) Put(parts ...[]byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.closed {
		return false
	}
	for _, b := range parts {
		p.data = append(p.data, b...)
	}
	p.changed.Broadcast()
	return true
}

// PutLine is Put for a line, which has no line feed.
func (p *Pipe) PutLine(line []byte) { p.Put(line, []byte("\n")) }

// AwaitRoom blocks while more than n bytes are unread. It is for writers that can wait.
func (p *Pipe) AwaitRoom(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.data) > n && !p.closed {
		p.changed.Wait()
	}
}

// End declares that nothing more will be written. Bytes already written can still be
// read.
func (p *Pipe) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.changed.Broadcast()
}

// Read blocks until there is something to read.
func (p *Pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.data) == 0 && !p.ended && !p.closed {
		p.changed.Wait()
	}
	if len(p.data) == 0 {
		p.drain.Do(func() { close(p.drained) })
		return 0, io.EOF
	}
	n := copy(b, p.data)
	if p.data = p.data[n:]; len(p.data) == 0 {
		p.data = nil
	}
	p.changed.Broadcast()
	return n, nil
}

// Close declares that nothing more will be read. It is for the reader.
func (p *Pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed, p.data = true, nil
	p.changed.Broadcast()
	p.drain.Do(func() { close(p.drained) })
	return nil
}

// Drained returns a channel that is closed when the reader has reached the end, or has
// closed the Pipe.
func (p *Pipe) Drained() <-chan struct{} { return p.drained }
