//go:build unix && !linux

package proxy

import (
	"os"
	"syscall"
)

// attributes puts the agent into a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// pipe returns the ends of a new blocking pipe: through the poller a round trip of 64 KiB
// takes 10 ms.
func pipe() (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err == nil {
		r.Fd()
		w.Fd()
	}
	return r, w, err
}

// widen does nothing: these systems size pipes themselves.
func widen(*os.File) {}
