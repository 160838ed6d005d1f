package proxy

import (
	"os"
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

// signal does nothing: one process cannot send another a signal here, and the
// console has sent it already.
func (a *agent) signal(os.Signal) {}

// terminate does nothing: there is no request to end but the end of stdin.
func (a *agent) terminate() {}

func (a *agent) kill() { a.cmd.Process.Kill() }

// alive reports whether a process of the agent's group is left. There are no
// groups here.
func (a *agent) alive() bool { return false }

// terminatedBy returns the signal that ended a process. There are none here.
func terminatedBy(*os.ProcessState) (number int, sig os.Signal) { return 0, nil }

func attributes() *syscall.SysProcAttr { return nil }

// widen does nothing: the system sizes pipes by itself.
func widen(*os.File) {}
