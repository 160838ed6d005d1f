//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// shell returns the command that runs a command line.
func shell() []string { return []string{"sh", "-c"} }

// isolate makes cancelling a command kill its whole process group.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
