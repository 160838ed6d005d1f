package proxy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
)

// A recorderGate guards the Journal, if there is one: calls run one at a time, none after
// close, and none after a panic.
type recorderGate struct {
	complain func(error) // may be nil

	mu      sync.Mutex
	journal Journal // guarded by mu; nil if there is none, or it has panicked
	closed  bool    // guarded by mu
}

// do calls note with the Journal, if there is one. It reports whether the gate is still
// open; if not, nothing more may be forwarded.
func (g *recorderGate) do(note func(j Journal)) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.call(note)
	}
	return !g.closed
}

// call calls note with the Journal, if there is one. The caller holds mu.
func (g *recorderGate) call(note func(j Journal)) {
	if g.journal != nil {
		defer g.guard()
		note(g.journal)
	}
}

// guard is deferred around each call of the Journal, with mu held. After a panic the
// Journal is left out: recording has ended, and the traffic continues.
func (g *recorderGate) guard() {
	v := recover()
	if v == nil {
		return
	}
	j, err := g.journal, fmt.Errorf("recording: %w", panicked(v))
	g.journal = nil
	g.report(err)
	defer func() { recover() }() // it panicked again
	j.Fault(err)
}

// open reports whether the gate is still open.
func (g *recorderGate) open() bool { return g.do(func(Journal) {}) }

// append is do for the hot path.
func (g *recorderGate) append(dir wire.Direction, origin wire.Origin, p []byte) (open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	open = !g.closed
	if open && g.journal != nil {
		defer g.guard()
		_ = g.journal.Append(dir, origin, p) // the journal itself remembers the gap
	}
	return open
}

// ended notes the end of a direction, with the error from the pump's run.
func (g *recorderGate) ended(dir wire.Direction, err error) {
	g.do(func(j Journal) {
		if errors.Is(err, io.EOF) {
			j.EOF(dir)
		} else {
			j.ReadFailed(dir, err)
		}
	})
}

// report tells Complain that a part has failed.
func (g *recorderGate) report(err error) {
	if g.complain != nil {
		g.complain(err)
	}
}

// fault notes on the tape that a part has failed, and reports it.
func (g *recorderGate) fault(err error) {
	g.do(func(j Journal) { j.Fault(err) })
	g.report(err)
}

func (g *recorderGate) startFailed(err *StartError) {
	g.do(func(j Journal) { j.StartFailed(err.Code, err) })
}

// exit notes the agent's end and closes the gate.
func (g *recorderGate) exit(code int, sig os.Signal, delivered [wire.Directions]int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.call(func(j Journal) { j.Exit(code, sig, delivered) })
	g.closed = true
}
