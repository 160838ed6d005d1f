package proxy

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// catch returns the signals that are to be passed on, and a function that ends
// that. Ctrl-C and Ctrl-Break reach the agent too, by way of the console.
func catch() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 16)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return c, func() { signal.Stop(c) }
}

// ends reports whether a signal is one that asks a program to end.
func ends(os.Signal) bool { return true }

// signal does nothing: one process cannot send another a signal here, and the
// console has sent it already.
func (a *agent) signal(os.Signal) {}

// terminate does nothing: there is no request to end but the end of stdin.
func (a *agent) terminate() {}

func (a *agent) kill() { a.cmd.Process.Kill() }

// alive reports whether a process of the agent's group is left. There are no
// groups here.
func (a *agent) alive() bool { return false }

// wait returns when the agent has ended. No signal ends a process here.
func (a *agent) wait() {
	a.cmd.Wait()
	a.code = a.cmd.ProcessState.ExitCode()
}

// A process is the agent's.
type process struct{ cmd *exec.Cmd }

// spawn starts the agent with those ends of its pipes.
func (a *agent) spawn(cmd *exec.Cmd, ends [3]*os.File) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends[0], ends[1], ends[2]
	a.cmd = cmd
	return cmd.Start()
}

// pipe returns the ends of a new pipe. They are blocking, as on Unix.
func pipe() (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err == nil {
		r.Fd()
		w.Fd()
	}
	return r, w, err
}

// widen does nothing: the system sizes pipes by itself.
func widen(*os.File) {}
