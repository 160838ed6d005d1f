package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/acptap/acptap/record/termtext"
)

// Warn writes a text to stderr and puts the program's name before each line. The text may
// quote the traffic, so Warn escapes control characters.
func Warn(stderr io.Writer, format string, args ...any) {
	text := termtext.Text(fmt.Sprintf(format, args...))
	for line := range strings.Lines(text) {
		fmt.Fprintf(stderr, "acptap: %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// Warnings writes warnings to Stderr without blocking its caller: the client reads our
// stderr as the agent's, and if it does not read, a write blocks.
type Warnings struct {
	Stderr io.Writer

	mu      sync.Mutex
	written chan struct{} // closed when the last warning is written; nil: none so far; guarded by mu
}

// Print calls Warn in a goroutine. Warnings are written in the order of the calls.
func (q *Warnings) Print(format string, args ...any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before, written := q.written, make(chan struct{})
	q.written = written
	go func() {
		defer close(written)
		if before != nil {
			<-before
		}
		Warn(q.Stderr, format, args...)
	}()
}

// Patience limits how long the program waits at exit for stderr to be read.
const Patience = 500 * time.Millisecond

// Wait blocks until all warnings so far are written, but no longer than Patience.
func (q *Warnings) Wait() {
	q.mu.Lock()
	written := q.written
	q.mu.Unlock()
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-time.After(Patience):
	}
}
