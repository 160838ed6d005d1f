package proxy

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts the agent into a process group of its own. If we are killed
// it is killed too: that is what the client would have done to it without a
// proxy, and many agents do not end by themselves when their stdin ends. The
// kernel ties that to the life of the thread that starts the agent, not to ours.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// widen asks for a larger pipe. It may be refused: a user's pipes together have
// a limit.
func widen(pipe *os.File) {
	unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, pipeSize)
}
