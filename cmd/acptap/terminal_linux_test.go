package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// terminal is a program for scripts that runs a command with a controlling terminal of its own, and
// prints all that appears on it. (testscript's ttyout may lack the last lines: it closes the
// terminal before it has read them.)
func terminal() {
	shown, tty, err := openTerminal()
	if err == nil {
		cmd := exec.Command(os.Args[1], os.Args[2:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.ExtraFiles = []*os.File{tty}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
		if err = cmd.Start(); err == nil {
			tty.Close()
			if _, err = io.Copy(os.Stdout, shown); errors.Is(err, unix.EIO) { // no process has the terminal any more
				err = nil
			}
			err = errors.Join(err, cmd.Wait())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "terminal:", err)
		os.Exit(1)
	}
}

// openTerminal returns the two ends of a new terminal.
func openTerminal() (shown, tty *os.File, err error) {
	shown, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetPointerInt(int(shown.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(shown.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	tty, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return shown, tty, err
}
