//go:build unix && !linux

package proxy

import (
	"os"
	"syscall"
)

// attributes puts the agent into a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// widen does nothing: these systems size pipes by themselves.
func widen(*os.File) {}
