package host

import (
	"io"
	"sync"
)

// maxInput is how many bytes may wait for a process before the client is read on.
const maxInput = 1 << 20

// An input is what a process is to read. What the host itself says to the process never
// waits for it, so that neither waits for the other.
type input struct {
	mu     sync.Mutex
	cond   sync.Cond // broadcast at every change
	buf    []byte    // guarded by mu: not read yet
	ended  bool      // guarded by mu: nothing more comes
	closed bool      // guarded by mu: nothing more is read
}

func newInput() *input {
	i := &input{}
	i.cond.L = &i.mu
	return i
}

// put adds bytes. It does nothing once the input has ended.
func (i *input) put(parts ...[]byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended || i.closed {
		return
	}
	for _, b := range parts {
		i.buf = append(i.buf, b...)
	}
	i.cond.Broadcast()
}

// room waits until there is room for more.
func (i *input) room() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.buf) > maxInput && !i.closed {
		i.cond.Wait()
	}
}

// end lets the process see the end behind what was put.
func (i *input) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	i.cond.Broadcast()
}

// Read waits for bytes.
func (i *input) Read(b []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.buf) == 0 && !i.ended && !i.closed {
		i.cond.Wait()
	}
	if i.closed || len(i.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(b, i.buf)
	if i.buf = i.buf[n:]; len(i.buf) == 0 {
		i.buf = nil
	}
	i.cond.Broadcast()
	return n, nil
}

// Close says that nothing more is read.
func (i *input) Close() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed, i.buf = true, nil
	i.cond.Broadcast()
	return nil
}
