package proxy

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts the agent into a process group of its own. If we are killed, the agent is
// killed too: without a proxy the client would have killed it, and many agents do not exit
// when their stdin ends. The kernel ties this to the life of the thread that starts the
// agent, not to that of the process.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// pipe returns the ends of a new blocking pipe, unlike os.Pipe: through the poller a round
// trip of 64 KiB takes 10 ms.
func pipe() (r, w *os.File, err error) {
	var fd [2]int
	if err := syscall.Pipe2(fd[:], syscall.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	return os.NewFile(uintptr(fd[0]), "|0"), os.NewFile(uintptr(fd[1]), "|1"), nil
}

// widen asks for a larger pipe. The kernel may refuse, since it limits the sum of a user's
// pipes.
func widen(pipe *os.File) {
	unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, pipeSize)
}
