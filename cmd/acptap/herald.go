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
	mu     sync.Mutex
	told   chan struct{} // closed when the last line was written; nil: there is none; guarded by mu
}

// tell is warn in a goroutine of its own, in the order of the calls.
func (h *herald) tell(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, told := h.told, make(chan struct{})
	h.told = told
	go func() {
		defer close(told)
		if before != nil {
			<-before
		}
		warn(h.stderr, format, args...)
	}()
}

// heraldTime is how long the end of the proxy waits for who reads stderr.
const heraldTime = 500 * time.Millisecond

// wait returns when all was told that there is by now, or after a while.
func (h *herald) wait() {
	h.mu.Lock()
	told := h.told
	h.mu.Unlock()
	if told == nil {
		return
	}
	select {
	case <-told:
	case <-time.After(heraldTime):
	}
}
