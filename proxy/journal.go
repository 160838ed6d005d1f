package proxy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// A Journal is told of every chunk of bytes before it is forwarded, and of what
// else happens. Its methods are called one at a time, from several goroutines,
// and never after Run has returned.
type Journal interface {
	// Append takes bytes of one direction. The chunks of the origins Wire and
	// Withheld, put together, are what the writer wrote; without an Interceptor
	// they are cut anywhere and all have the origin Wire. Append must not keep
	// p. An error means that the tape has a gap, not that the traffic stops.
	Append(dir wire.Direction, origin wire.Origin, p []byte) error

	// EOF says that the writer of a direction closed it.
	EOF(dir wire.Direction)

	// ReadFailed says that a direction cannot be read on, and why. Its receiver
	// sees the end of it, though the writer has not closed it.
	ReadFailed(dir wire.Direction, err error)

	// Signal says that a signal came and is about to be passed on to the agent.
	Signal(sig os.Signal)

	// Fault says that a part of this process has panicked, and is left out from
	// here on: the Interceptor, or the Journal itself, if it still can note that.
	Fault(err error)

	// Exit is the last call: how the agent ended, as in ExitError, and how many
	// bytes of each direction the receiver took.
	Exit(code int, sig os.Signal, delivered [wire.Directions]int64)

	// StartFailed is the only call if the agent could not be started: code and
	// err as in StartError.
	StartFailed(code int, err error)
}

// A tape is the way to the Journal, if there is one: one call at a time, none
// once it is closed, and none after a panic.
type tape struct {
	complain func(error) // may be nil

	mu      sync.Mutex
	journal Journal // guarded by mu; nil if there is none, or none any more
	closed  bool    // guarded by mu
}

// do calls note with the Journal, if there is one. It reports whether the tape
// is still open; if not, nothing may be forwarded any more.
func (t *tape) do(note func(j Journal)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.call(note)
	}
	return !t.closed
}

// call calls note with the Journal, if there is one. Called with mu held.
func (t *tape) call(note func(j Journal)) {
	if t.journal != nil {
		defer t.guard()
		note(t.journal)
	}
}

// guard is deferred around each call of the Journal, with mu held. One that
// panics is left alone: recording has ended then, and the traffic goes on.
func (t *tape) guard() {
	v := recover()
	if v == nil {
		return
	}
	j, err := t.journal, fmt.Errorf("recording: %w", panicked(v))
	t.journal = nil
	t.report(err)
	defer func() { recover() }() // it has failed once
	j.Fault(err)
}

// open reports whether the tape is still open.
func (t *tape) open() bool { return t.do(func(Journal) {}) }

// append is do for the hot path.
func (t *tape) append(dir wire.Direction, origin wire.Origin, p []byte) (open bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	open = !t.closed
	if open && t.journal != nil {
		defer t.guard()
		_ = t.journal.Append(dir, origin, p) // a gap is the journal's to remember
	}
	return open
}

// ended notes that a direction has ended, as a pump's run says.
func (t *tape) ended(dir wire.Direction, err error) {
	t.do(func(j Journal) {
		if errors.Is(err, io.EOF) {
			j.EOF(dir)
		} else {
			j.ReadFailed(dir, err)
		}
	})
}

// report tells of a part that has failed.
func (t *tape) report(err error) {
	if t.complain != nil {
		t.complain(err)
	}
}

// fault notes and tells that a part has failed.
func (t *tape) fault(err error) {
	t.do(func(j Journal) { j.Fault(err) })
	t.report(err)
}

func (t *tape) startFailed(err *StartError) {
	t.do(func(j Journal) { j.StartFailed(err.Code, err) })
}

// exit notes the agent's end and closes the tape.
func (t *tape) exit(code int, sig os.Signal, delivered [wire.Directions]int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call(func(j Journal) { j.Exit(code, sig, delivered) })
	t.closed = true
}
