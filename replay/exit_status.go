package replay

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// EndAs ends this process as an agent ended. If a signal ended the agent, EndAs sends the
// same signal to this process, provided that it can end a Go program. Otherwise it returns
// the status with which the process should exit.
func EndAs(exit wire.Exit) (status int) {
	switch sig := syscall.Signal(exit.Code - 128); sig {
	case syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP:
		if exit.Signal != sig.String() {
			break
		}
		signal.Reset(sig)
		if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(sig) == nil {
			time.Sleep(time.Second) // the signal arrives before that
		}
	}
	return exit.Code
}
