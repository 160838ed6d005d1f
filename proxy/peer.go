package proxy

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
)

// A Peer is an agent within this process. It must behave as a program would.
type Peer struct {
	// Run is the agent's whole life, and returns its exit status. It reads in, which ends
	// when the client closes it, and writes out and err, each of which buffers as much as
	// a pipe before it blocks. The end of ctx corresponds to SIGKILL: in, out and err
	// return errors from then on, and Run must return any status. If Run panics, the
	// agent ends with status 2 and the reason on err.
	Run func(ctx context.Context, in io.Reader, out, err io.Writer) (code int)

	// Signal receives the agent's signals, including SIGTERM when it is made to end. It
	// must not block. If it is nil, a signal that asks a program to end ends ctx.
	Signal func(sig os.Signal)
}

// A peerRun is the life of a Peer.
type peerRun struct {
	*Peer
	cancel context.CancelFunc
	theirs [3]io.Closer // its ends of the streams
	fatal  atomic.Int32 // the signal that ended it; 0: none
	agent  *agent
}

// start begins the life of a Peer. It returns what start returns for a program.
func (p *Peer) start() (started func() (*agent, error)) {
	in, stdin := newMemoryPipe()
	stdout, out := newMemoryPipe()
	stderr, err := newMemoryPipe()
	ctx, cancel := context.WithCancel(context.Background())
	r := &peerRun{Peer: p, cancel: cancel, theirs: [3]io.Closer{in, out, err}}
	a := &agent{running: r, stdin: stdin, stdout: stdout, stderr: stderr, exited: make(chan struct{})}
	r.agent = a
	go func() {
		a.code = r.live(ctx, in, out, err)
		if n := r.fatal.Load(); n != 0 {
			a.code, a.sig = 128+int(n), syscall.Signal(n)
		}
		r.end()
		close(a.exited)
	}()
	return func() (*agent, error) { return a, nil }
}

// live calls Run.
func (r *peerRun) live(ctx context.Context, in io.Reader, out, err io.Writer) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintln(err, panicked(v))
			code = 2
		}
	}()
	return r.Run(ctx, in, out, err)
}

// end ends ctx and the streams.
func (r *peerRun) end() {
	r.cancel()
	for _, c := range r.theirs {
		c.Close()
	}
}

func (r *peerRun) signal(sig os.Signal) {
	switch {
	case r.Signal != nil:
		r.Signal(sig)
	case ends(sig):
		r.die(sig)
	}
}

func (r *peerRun) terminate() { r.signal(syscall.SIGTERM) }

func (r *peerRun) kill() { r.die(syscall.SIGKILL) }

// die ends the life by a signal.
func (r *peerRun) die(sig os.Signal) {
	number, ok := sig.(syscall.Signal)
	if !ok {
		number = syscall.SIGKILL
	}
	r.fatal.CompareAndSwap(0, int32(number))
	r.end()
}

// alive reports whether it is still running.
func (r *peerRun) alive() bool {
	select {
	case <-r.agent.exited:
		return false
	default:
		return true
	}
}
