// Package proxy runs an agent and passes bytes between it and a client. The
// bytes of stdin, stdout and stderr pass unchanged, with the ends of the
// streams, signals and the exit status; each chunk is told to a Journal before
// it is forwarded. A chain of Interceptors, if there is one, sees whole frames
// and decides what goes out in their place.
//
// A peer that does not read stops only the stream that leads to it, and no stream
// is read faster than its receiver takes it. What it cannot do: a read of stdin
// and a blocked write cannot be interrupted, so a goroutine may outlive Run.
//
// The package knows nothing of what methods mean or of storage, and writes
// nothing of its own to any stream.
package proxy

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"
)

// A Proxy stands where an agent stands and runs the agent behind it.
type Proxy struct {
	Command []string // the agent and its arguments
	Peer    *Peer    // the agent, if it is not nil: Command is not run then

	// The client's side; nil is os.Stdin, os.Stdout, os.Stderr. In and Out are
	// closed if they are io.Closers: In when the agent takes no more input, Out
	// when the agent has said its last word, so that the client sees what it
	// would see without a proxy. Err stays open: the runtime writes there.
	In       io.Reader
	Out, Err io.Writer

	Journal Journal // nil: nothing is recorded
	// Interceptors see the frames one after the other, from the client's end to
	// the agent's. None: bytes pass as they come.
	Interceptors []Interceptor

	// Prepare, if set, returns what takes the place of Journal and Interceptors. It
	// is called while the agent starts; until it has returned, nothing is passed
	// on.
	Prepare func() (Journal, []Interceptor)

	// Complain is told once if the Journal panics, and once for each Interceptor
	// that does. The traffic goes on without them, but waits for Complain, which must
	// not block. nil: nobody is told.
	Complain func(error)

	// Patience is how long an agent that is made to end may take for each step:
	// its stdin closed, then SIGTERM, then SIGKILL. It is also how long what a
	// launcher has started may outlive it after a signal that was passed on. 0 is
	// 5 s.
	Patience time.Duration

	// Linger is how long stdout and stderr may stay silent after the agent's
	// end while processes that it left behind hold them open. 0 is 500 ms.
	Linger time.Duration
}

// Run starts the agent and returns when it has ended: nil for exit status 0,
// else an *ExitError, or a *StartError if it could not be started.
//
// The end of ctx and a client that does not take the agent's output make the
// agent end. Signals to this process are passed on at once, and that is all: what
// the agent makes of SIGTERM or SIGHUP is its own affair. If it stops at SIGTSTP,
// so does this process. The client's EOF only closes its stdin: what it then does
// is between client and agent.
//
// A read of In cannot be interrupted, so the goroutine that does it may outlive
// Run, until In gives something or ends. So may one whose Write to Out or Err
// blocks, or whose stream is held open by a process that the agent left behind.
// None of them tells the Journal anything any more, or forwards what it reads
// from then on.
func (p *Proxy) Run(ctx context.Context) error {
	started := p.start()
	gate := &recorderGate{complain: p.Complain}
	var chain []Interceptor
	gate.journal, chain = p.prepare(gate)
	// Not before: a signal must be able to end a process that waits for its disk.
	signals, stop := catch()
	defer stop()
	agent, err := started()
	if err != nil {
		err := newStartError(p.Command, err)
		gate.startFailed(err)
		return err
	}
	defer agent.release()
	r := newRun(p, agent, gate, chain)
	r.events(ctx, signals)
	return r.end()
}

// start begins to run the agent.
func (p *Proxy) start() (started func() (*agent, error)) {
	if p.Peer != nil {
		return p.Peer.start()
	}
	return start(p.Command)
}

// prepare calls Prepare, if it is set.
func (p *Proxy) prepare(g *recorderGate) (Journal, []Interceptor) {
	if p.Prepare == nil {
		return p.Journal, p.Interceptors
	}
	defer func() {
		if v := recover(); v != nil {
			g.report(fmt.Errorf("recording: %w", panicked(v)))
		}
	}()
	return p.Prepare()
}

func (p *Proxy) linger() time.Duration { return cmp.Or(p.Linger, 500*time.Millisecond) }
