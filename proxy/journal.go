package proxy

import (
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

	// Signal says that a signal came and is about to be passed on to the agent.
	Signal(sig os.Signal)

	// Exit is the last call: how the agent ended, as in ExitError, and how many
	// bytes of each direction the receiver took.
	Exit(code int, sig os.Signal, delivered [wire.Directions]int64)

	// StartFailed is the only call if the agent could not be started: code and
	// err as in StartError.
	StartFailed(code int, err error)
}

// A tape is the way to the Journal, if there is one: one call at a time, and
// none once it is closed.
type tape struct {
	journal Journal // may be nil

	mu     sync.Mutex
	closed bool // guarded by mu
}

// do calls note with the Journal, if there is one. It reports whether the tape
// is still open; if not, nothing may be forwarded any more.
func (t *tape) do(note func(j Journal)) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed && t.journal != nil {
		note(t.journal)
	}
	return !t.closed
}

// open reports whether the tape is still open.
func (t *tape) open() bool { return t.do(func(Journal) {}) }

// append is do for the hot path.
func (t *tape) append(dir wire.Direction, origin wire.Origin, p []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed && t.journal != nil {
		_ = t.journal.Append(dir, origin, p) // a gap is the journal's to remember
	}
	return !t.closed
}

func (t *tape) startFailed(err *StartError) {
	t.do(func(j Journal) { j.StartFailed(err.Code, err) })
}

// exit notes the agent's end and closes the tape.
func (t *tape) exit(code int, sig os.Signal, delivered [wire.Directions]int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.journal != nil {
		t.journal.Exit(code, sig, delivered)
	}
	t.closed = true
}
