package main

import (
	"io"
	"sync"
	"time"
)

// An asyncWarner writes warnings to stderr without making its caller wait: the
// client reads our stderr as the agent's, and if it does not, a write blocks.
type asyncWarner struct {
	stderr  io.Writer
	mu      sync.Mutex
	written chan struct{} // closed when the last warning was written; nil: there is none; guarded by mu
}

// warn is the function warn in a goroutine. Warnings are written in the order of
// the calls.
func (w *asyncWarner) warn(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, written := w.written, make(chan struct{})
	w.written = written
	go func() {
		defer close(written)
		if before != nil {
			<-before
		}
		warn(w.stderr, format, args...)
	}()
}

// warnerPatience is how long the end of the proxy waits for stderr to be read.
const warnerPatience = 500 * time.Millisecond

// wait returns when all warnings so far are written, or after warnerPatience.
func (w *asyncWarner) wait() {
	w.mu.Lock()
	written := w.written
	w.mu.Unlock()
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-time.After(warnerPatience):
	}
}
