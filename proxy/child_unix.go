//go:build unix

package proxy

import (
	"os"
	"os/signal"
	"syscall"
)

// catch returns the signals that are to be passed on, and a function that ends
// that. One that our parent had us ignore stays ignored, for the agent too
// (nohup).
//
// SIGPIPE is caught so that a client that closes its end of our stdout is an
// error of Write and not our death; it must not be ignored, since the agent
// would inherit that.
func catch() (<-chan os.Signal, func()) {
	c, pipe := make(chan os.Signal, 16), make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
	if !signal.Ignored(syscall.SIGPIPE) {
		signal.Notify(pipe, syscall.SIGPIPE)
	}
	return c, func() { signal.Stop(c); signal.Stop(pipe) }
}

// signal sends sig to the agent's process group: many agents are launchers of
// another program that would not get it else. The group may be gone.
func (a *agent) signal(sig os.Signal) {
	syscall.Kill(-a.cmd.Process.Pid, sig.(syscall.Signal))
}

func (a *agent) terminate() { a.signal(syscall.SIGTERM) }

func (a *agent) kill() { a.signal(syscall.SIGKILL) }

// alive reports whether a process of the agent's group is left.
func (a *agent) alive() bool { return syscall.Kill(-a.cmd.Process.Pid, 0) == nil }

// terminatedBy returns the signal that ended a process, nil if none did.
func terminatedBy(state *os.ProcessState) (number int, sig os.Signal) {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return int(ws.Signal()), ws.Signal()
	}
	return 0, nil
}
