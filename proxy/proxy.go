// Package proxy runs an agent and passes bytes between it and a client. The bytes of stdin,
// stdout and stderr pass unchanged, as do the ends of the streams, signals and the exit
// status; each chunk is reported to a Journal before it is forwarded. A chain of
// Interceptors, if there is one, sees whole frames and decides what goes out in their
// place.
//
// A peer that does not read stops only the stream that leads to it, and a stream is read no
// faster than its receiver takes it. A read of stdin and a blocked write cannot be
// interrupted, so a goroutine may outlive Run.
//
// The package does not know what methods mean or how tapes are stored, and writes nothing
// of its own to any stream.
package proxy

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"
)

// A Proxy takes an agent's place and runs that agent.
type Proxy struct {
	Command []string // the agent and its arguments
	Dir     string   // the agent's working directory; empty: that of this process
	Env     []string // added to the environment of this process
	Peer    *Peer    // the agent, if not nil; Command is then not run

	// The client's side; nil means os.Stdin, os.Stdout, os.Stderr. In and Out are closed if
	// they are io.Closers: In when the agent takes no more input, Out after the agent's
	// last output, so that the client sees what it would see without a proxy. Err stays
	// open because the runtime writes to it.
	In       io.Reader
	Out, Err io.Writer

	Journal Journal // nil: nothing is recorded
	// Interceptors see the frames one after the other, from the client's end to the
	// agent's. Without any, bytes pass as they come.
	Interceptors []Interceptor

	// Prepare, if set, returns values to use instead of Journal and Interceptors. It is
	// called while the agent starts; nothing is passed on until it returns.
	Prepare func() (Journal, []Interceptor)

	// Complain is called once if the Journal panics, and once for each Interceptor that
	// does. The traffic continues without them, but waits for Complain, which must not
	// block. nil: not reported.
	Complain func(error)

	// Patience bounds each step of making an agent end: its stdin closed, then SIGTERM,
	// then SIGKILL. It also limits how long processes that a launcher started may outlive
	// it after a signal was passed on. 0 means 5 s.
	Patience time.Duration

	// Linger is how long stdout and stderr may stay silent after the agent's end while
	// processes that it left running hold them open. 0 means 500 ms.
	Linger time.Duration
}

// Run starts the agent and returns when it has ended: nil for exit status 0, otherwise an
// *ExitError, or a *StartError if the agent could not be started.
//
// Run makes the agent end when ctx ends or when the client does not read the agent's
// output. Signals to this process are only passed on, at once: how the agent reacts to
// SIGTERM or SIGHUP is up to it. If it stops on SIGTSTP, so does this process. The
// client's EOF only closes the agent's stdin; what follows is between client and agent.
//
// A read of In cannot be interrupted, so its goroutine may outlive Run until In returns
// data or ends. The same holds for a goroutine whose Write to Out or Err blocks, or whose
// stream is held open by a process that the agent left behind. After Run none of them
// calls the Journal or forwards anything.
func (p *Proxy) Run(ctx context.Context) error {
	started := p.start()
	gate := &recorderGate{complain: p.Complain}
	var chain []Interceptor
	gate.journal, chain = p.prepare(gate)
	// Not earlier: a signal must be able to end a process that waits for its disk.
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
	return p.startCommand()
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
