//go:build unix

package main

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// detach runs a command in its own session, so that signals to the proxy do not reach it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// yield gives a running command and all of its threads the lowest priority.
func yield(cmd *exec.Cmd) { unix.Setpriority(unix.PRIO_PGRP, cmd.Process.Pid, 19) }
