package main

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"
)

// TestInspectKill: an inspector that is killed or stopped while frames wait loses none of
// them, as TestHoldKill has it for acptap ctl.
func TestInspectKill(t *testing.T) { killUsers(t, startInspected) }

// startInspected starts a proxy that holds session a and an inspector that shows so, and waits
// until all of session b has passed.
func startInspected(t *testing.T) *heldRun {
	t.Helper()
	r := startHeldProxy(t, "--hold", "session:a", "--wait", "1m")
	r.talk(t)
	shown, tty, err := openTerminal()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { shown.Close() })
	r.user = exec.Command("acptap", "--store", r.store, "inspect", "last")
	r.user.Env = append(r.user.Environ(), "TERM=xterm")
	r.user.Stdin, r.user.Stdout, r.user.Stderr = tty, tty, tty
	r.user.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := r.user.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	var text []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(text, []byte("‖")) {
		n, err := shown.Read(buf)
		if err != nil {
			t.Fatalf("the inspector ended: %v\n%q", err, text)
		}
		text = append(text, buf[:n]...)
	}
	go func() { // so that it is not blocked
		for err == nil {
			_, err = shown.Read(buf)
		}
	}()
	return r
}
