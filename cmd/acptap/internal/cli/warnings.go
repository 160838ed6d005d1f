package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/acptap/acptap/record/termtext"
)

// Warn writes a text to stderr, each line after the program's name. The text may
// quote the traffic, so control characters are escaped.
func Warn(stderr io.Writer, format string, args ...any) {
	text := termtext.Text(fmt.Sprintf(format, args...))
	for line := range strings.Lines(text) {
		fmt.Fprintf(stderr, "acptap: %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// Warnings writes warnings to Stderr without making its caller wait: the client
// reads our stderr as the agent's, and if it does not, a write blocks.
type Warnings struct {
	Stderr io.Writer

	mu      sync.Mutex
	written chan struct{} // closed when the last warning was written; nil: there is none; guarded by mu
}

// Print is Warn in a goroutine. Warnings are written in the order of
// the calls.
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

// Patience is how long the end of the program waits for stderr to be read.
const Patience = 500 * time.Millisecond

// Wait returns when all warnings so far are written, or after Patience.
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
