//go:build unix

package main

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// detach gives a command a session of its own, so that no signal to the proxy's reaches it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// yield lets others go before a command that runs, with all of its threads.
func yield(cmd *exec.Cmd) { unix.Setpriority(unix.PRIO_PGRP, cmd.Process.Pid, 19) }
