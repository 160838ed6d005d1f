//go:build unix

package proxy

import (
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// passedOn lists the signals that are passed on to the agent. SIGTTIN and SIGTTOU are not
// among them: the terminal sends them for what we do ourselves, and they stop us. Nor are
// the signals that a process causes by its own faults.
var passedOn = [...]os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH,
	syscall.SIGTSTP, syscall.SIGCONT,
}

// catch returns the signals to pass on, and a function that stops catching them. One that
// our parent had us ignore stays ignored, for the agent too (nohup).
//
// SIGPIPE is caught so that a client closing its end of our stdout causes an error from
// Write rather than our death; it must not be ignored, since the agent would inherit
// that.
func catch() (<-chan os.Signal, func()) {
	c, pipe := make(chan os.Signal, 16), make(chan os.Signal, 1)
	for _, sig := range passedOn {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
	if !signal.Ignored(syscall.SIGPIPE) {
		signal.Notify(pipe, syscall.SIGPIPE)
	}
	return c, func() { signal.Stop(c); signal.Stop(pipe) }
}

// A process is the agent's process.
type process struct {
	pid      int
	stopping atomic.Bool // it was told to stop, and has not stopped yet
	stopped  atomic.Bool // it has stopped, and was not told to continue
}

// spawn starts the agent with the given ends of its pipes. os/exec would fork once more
// first, to find out whether the kernel has process handles.
func (p *process) spawn(cmd *exec.Cmd, ends [3]*os.File) (err error) {
	if cmd.Err != nil {
		return cmd.Err
	}
	p.pid, _, err = syscall.StartProcess(cmd.Path, cmd.Args, &syscall.ProcAttr{
		Dir:   cmd.Dir,
		Env:   cmd.Environ(),
		Files: []uintptr{ends[0].Fd(), ends[1].Fd(), ends[2].Fd()},
		Sys:   attributes(),
	})
	return err
}

// ends reports whether a signal asks a program to end.
func ends(sig os.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}

// signal sends sig to the agent's process group: many agents are launchers of another
// program that would otherwise not receive it. The group may be gone already. Signals from
// a terminal reach only our own group, so the agent receives them once.
func (p *process) signal(sig os.Signal) {
	switch sig {
	case syscall.SIGTSTP:
		if p.stopped.Load() { // the SIGCONT in between was too short to be noticed
			stop()
			return
		}
		p.stopping.Store(true)
	case syscall.SIGCONT:
		p.stopping.Store(false)
		p.stopped.Store(false)
	}
	syscall.Kill(-p.pid, sig.(syscall.Signal))
}

func stop() { syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// wait returns when the agent has ended. If the agent stops because we were told to stop,
// we stop too, so that the shell waiting for us notices. SIGCONT continues both.
func (p *process) wait() (code int, sig os.Signal) {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // another waiter has reaped it
			return 255, nil
		case status.Stopped():
			if p.stopping.CompareAndSwap(true, false) {
				p.stopped.Store(true)
				stop()
			}
		case status.Signaled():
			return 128 + int(status.Signal()), status.Signal()
		default:
			return status.ExitStatus(), nil
		}
	}
}

func (p *process) terminate() { p.signal(syscall.SIGTERM) }

func (p *process) kill() { p.signal(syscall.SIGKILL) }

// alive reports whether any process in the agent's group remains.
func (p *process) alive() bool { return syscall.Kill(-p.pid, 0) == nil }
