//go:build linux

package shim_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/acptap/acptap/replay/shim"
)

// startHolder starts a process that has leased session s of agent a.
func startHolder(t *testing.T, store string) *exec.Cmd {
	t.Helper()
	holder := exec.Command(os.Args[0], "role:lease", store)
	holder.Stderr = os.Stderr
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		holder.Wait()
	})
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return holder
}

// Only one holder can lease a session, until the lease is released or its process is killed;
// the next lease removes the file left by a killed process.
func TestLease(t *testing.T) {
	store := t.TempDir()
	files := func() []string {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(store, "leases", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	acquire := func(agent, session string) interface{ Release() } {
		t.Helper()
		l, err := shim.TakeLease(store, agent, session)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	mine := acquire("a", "s")
	if _, err := shim.TakeLease(store, "a", "s"); !errors.Is(err, shim.ErrLeased) {
		t.Errorf("the second lease: got %v, want ErrLeased", err)
	}
	acquire("b", "s").Release()
	mine.Release()
	acquire("a", "s").Release()
	if left := files(); len(left) > 0 {
		t.Errorf("what was given back leaves %v", left)
	}

	other := startHolder(t, store)
	if _, err := shim.TakeLease(store, "a", "s"); !errors.Is(err, shim.ErrLeased) {
		t.Errorf("while another process has it: got %v, want ErrLeased", err)
	}
	other.Process.Kill()
	other.Wait()
	dead := files()
	for _, file := range dead {
		os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour))
	}
	acquire("a", "other").Release()
	acquire("a", "s").Release()
	if left := files(); len(dead) != 1 || len(left) > 0 {
		t.Errorf("a killed process leaves %v, and then %v", dead, left)
	}
}
