package main

import "os/exec"

// shell returns the command that runs a command line. It is not cmd.exe, which expands
// variables before it parses the line: text from the wire could then run commands.
func shell() []string {
	return []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-Command"}
}

// isolate does nothing on Windows.
func isolate(*exec.Cmd) {}
