package proxy

import (
	"io"
	"sync"
)

// memoryPipeSize is the capacity of a pipe on most systems.
const memoryPipeSize = 64 << 10

// A memoryPipe is a pipe within this process. Unlike io.Pipe it buffers what is written;
// otherwise a peer that writes before it reads would deadlock.
type memoryPipe struct {
	mu     sync.Mutex
	cond   sync.Cond // broadcast at every change
	buf    []byte    // guarded by mu: not read yet
	closed [2]bool   // guarded by mu: by its reader, by its writer
}

type (
	pipeReader struct{ *memoryPipe }
	pipeWriter struct{ *memoryPipe }
)

func newMemoryPipe() (pipeReader, pipeWriter) {
	p := &memoryPipe{}
	p.cond.L = &p.mu
	return pipeReader{p}, pipeWriter{p}
}

// Read returns io.EOF when the writer has closed its end and everything has been read.
func (r pipeReader) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.buf) == 0 && r.closed == [2]bool{} {
		r.cond.Wait()
	}
	switch {
	case r.closed[0]:
		return 0, io.ErrClosedPipe
	case len(r.buf) == 0:
		return 0, io.EOF
	}
	n := copy(b, r.buf)
	r.buf = r.buf[n:]
	r.cond.Broadcast()
	return n, nil
}

// Close makes writes fail.
func (r pipeReader) Close() error { return r.close(0) }

// Write returns when the pipe holds all of b, or an end is closed.
func (w pipeWriter) Write(b []byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		if w.closed != [2]bool{} {
			return n, io.ErrClosedPipe
		}
		room := min(memoryPipeSize-len(w.buf), len(b)-n)
		w.buf = append(w.buf, b[n:n+room]...)
		n += room
		w.cond.Broadcast()
		if n == len(b) {
			return n, nil
		}
		w.cond.Wait()
	}
}

// Close makes reads end once the written bytes are read.
func (w pipeWriter) Close() error { return w.close(1) }

func (p *memoryPipe) close(end int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed[end] = true
	p.cond.Broadcast()
	return nil
}
