//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// shell returns what runs a command line.
func shell() []string { return []string{"sh", "-c"} }

// isolate has a command end with all that it has started.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
