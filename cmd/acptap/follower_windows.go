package main

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach runs a command without a console and in its own process group, so that signals to
// the proxy do not reach it, and with a low priority.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS | windows.IDLE_PRIORITY_CLASS,
	}
}

// yield does nothing: detach has already lowered the priority.
func yield(*exec.Cmd) {}
