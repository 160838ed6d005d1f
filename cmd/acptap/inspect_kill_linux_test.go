package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestInspectKill: an inspector that is killed or stopped while frames wait loses none of
// them, as TestHoldKill has it for acptap ctl.
func TestInspectKill(t *testing.T) {
	n := max(*holdKills/10, 2)
	if testing.Short() {
		n = 1
	}
	for i := range n {
		how := syscall.SIGKILL
		if i%3 == 1 {
			how = syscall.SIGSTOP // which takes ten seconds
		}
		t.Run(fmt.Sprint(how, " ", i), func(t *testing.T) {
			t.Parallel()
			r := startHeldProxy(t, "--hold", "session:a", "--wait", "1m")
			r.talk(t)
			shown, tty, err := openTerminal()
			if err != nil {
				t.Skip(err)
			}
			defer shown.Close()
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
			began := time.Now()
			r.user.Process.Signal(how)
			r.expect(t, "a")
			t.Logf("after %v", time.Since(began))
			r.user.Process.Kill()
			r.user.Wait()
			r.end(t)
		})
	}
}
