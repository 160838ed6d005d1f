package proxy

import (
	"cmp"
	"time"
)

// A shutdown makes an agent end, step by step, with time for each.
type shutdown struct {
	steps    []func() // not yet taken
	patience time.Duration
	next     <-chan time.Time // when the next step is due; nil before the first and after the last
	begun    bool
}

// newShutdown returns a shutdown that closes the agent's stdin, then sends SIGTERM, then
// SIGKILL. Patience 0 means Proxy.Patience's default.
func newShutdown(a *agent, patience time.Duration) shutdown {
	return shutdown{
		steps:    []func(){func() { a.stdin.Close() }, a.terminate, a.kill},
		patience: cmp.Or(patience, 5*time.Second),
	}
}

// begin takes the first step, if the shutdown has not begun.
func (e *shutdown) begin() {
	if !e.begun {
		e.begun = true
		e.step()
	}
}

func (e *shutdown) step() {
	e.steps[0]()
	e.steps, e.next = e.steps[1:], nil
	if len(e.steps) > 0 {
		e.next = time.After(e.patience)
	}
}

// force takes the last step at once.
func (e *shutdown) force() {
	e.begun = true
	if !e.done() {
		e.steps = e.steps[len(e.steps)-1:]
		e.step()
	}
}

func (e *shutdown) done() bool { return len(e.steps) == 0 }
