package proxy

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// catch returns the signals to pass on, and a function that stops catching them. The
// console delivers Ctrl-C and Ctrl-Break to the agent as well.
func catch() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 16)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}

// ends reports whether a signal asks a program to end.
func ends(os.Signal) bool { return true }

// signal does nothing: here one process cannot signal another, and the console has
// already delivered the signal.
func (p *process) signal(os.Signal) {}

// terminate does nothing: the end of stdin is the only request to end.
func (p *process) terminate() {}

func (p *process) kill() { p.cmd.Process.Kill() }

// alive reports false: there are no process groups here.
func (p *process) alive() bool { return false }

// wait returns when the agent has ended. No signal ends a process here.
func (p *process) wait() (code int, sig os.Signal) {
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), nil
}

// A process is the agent's process.
type process struct{ cmd *exec.Cmd }

// spawn starts the agent with the given ends of its pipes.
func (p *process) spawn(cmd *exec.Cmd, ends [3]*os.File) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends[0], ends[1], ends[2]
	p.cmd = cmd
	return cmd.Start()
}

// pipe returns the ends of a new blocking pipe, as on Unix.
func pipe() (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err == nil {
		r.Fd()
		w.Fd()
	}
	return r, w, err
}

// widen does nothing: the system sizes pipes itself.
func widen(*os.File) {}
