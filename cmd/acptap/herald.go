package main

import (
	"io"
	"sync"
	"time"
)

// A herald tells stderr of trouble, behind the traffic: nobody may read what the
// client has as the agent's stderr, and a write to it does not end then.
type herald struct {
	stderr io.Writer
	mu     sync.Mutex // held by who writes
	lines  sync.WaitGroup
}

// tell is warn in a goroutine of its own.
func (h *herald) tell(format string, args ...any) {
	h.lines.Go(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		warn(h.stderr, format, args...)
	})
}

// heraldTime is how long the end of the proxy waits for who reads stderr.
const heraldTime = 500 * time.Millisecond

// wait returns when all was told, or after a while.
func (h *herald) wait() {
	told := make(chan struct{})
	go func() {
		h.lines.Wait()
		close(told)
	}()
	select {
	case <-told:
	case <-time.After(heraldTime):
	}
}
