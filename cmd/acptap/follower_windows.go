package main

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach gives a command no console and a group of its own, so that no signal to the
// proxy's reaches it, and lets others go before it.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS | windows.IDLE_PRIORITY_CLASS,
	}
}

// yield does nothing: detach has done it.
func yield(*exec.Cmd) {}
