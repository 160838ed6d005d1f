package proxy

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
)

// pipeSize is the size we request for the agent's stdout pipe: four times the usual, so
// that an agent that floods does not block on each of our reads.
const pipeSize = 256 << 10

// An agent is the running agent and our ends of its streams.
type agent struct {
	running
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr io.ReadCloser

	exited chan struct{} // closed when the agent has ended and been waited for
	code   int           // how it ended, as in ExitError; set before exited is closed
	sig    os.Signal     // likewise
}

// A running agent is a program, or a Peer.
type running interface {
	signal(sig os.Signal)
	terminate()
	kill()
	alive() bool // true even if only processes that it started remain
}

// start begins to run p.Command in its own process group. It returns at once; the returned
// function waits until the agent has started.
func (p *Proxy) startCommand() (started func() (*agent, error)) {
	a := &agent{exited: make(chan struct{})}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel ties the agent's life to this thread, see attributes
		defer runtime.UnlockOSThread()
		process, err := a.start(p)
		result <- err
		if err == nil {
			a.code, a.sig = process.wait()
			close(a.exited)
		}
	}()
	return func() (*agent, error) {
		if err := <-result; err != nil {
			return nil, err
		}
		return a, nil
	}
}

func (a *agent) start(wanted *Proxy) (*process, error) {
	if len(wanted.Command) == 0 {
		return nil, exec.ErrNotFound
	}
	cmd := exec.Command(wanted.Command[0], wanted.Command[1:]...)
	cmd.Dir = wanted.Dir
	if wanted.Env != nil {
		cmd.Env = append(os.Environ(), wanted.Env...)
	}
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			f.Close() // the agent has its own copy
		}
	}()
	var ours [3]*os.File
	var err [3]error
	theirs[0], ours[0], err[0] = pipe()
	ours[1], theirs[1], err[1] = pipe()
	ours[2], theirs[2], err[2] = pipe()
	p := &process{}
	failed := errors.Join(err[:]...)
	if failed == nil {
		widen(ours[1])
		failed = p.spawn(cmd, theirs)
	}
	if failed != nil {
		for _, f := range ours {
			f.Close()
		}
		return nil, failed
	}
	a.running, a.stdin, a.stdout, a.stderr = p, ours[0], ours[1], ours[2]
	return p, nil
}

// release closes our ends. An end that a goroutine is blocked on closes when that goroutine
// returns.
func (a *agent) release() {
	a.stdin.Close()
	a.stdout.Close()
	a.stderr.Close()
}
