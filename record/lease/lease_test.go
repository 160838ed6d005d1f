//go:build linux

package lease_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/acptap/acptap/record/lease"
)

// storeVariable tells the test binary that it is another process, which leases a
// session in that store until its stdin ends.
const storeVariable = "ACPTAP_TEST_STORE"

func TestMain(m *testing.M) {
	store := os.Getenv(storeVariable)
	if store == "" {
		os.Exit(m.Run())
	}
	if _, err := lease.Acquire(store, "a", "s"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("leased")
	io.Copy(io.Discard, os.Stdin)
}

// startHolder starts a process that has leased session s of agent a.
func startHolder(t *testing.T, store string) *exec.Cmd {
	t.Helper()
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), storeVariable+"="+store)
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

// A session is leased once, whoever asks, until it is given back or its process
// was killed; what that has left goes with the next lease.
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
	acquire := func(agent, session string) *lease.Lease {
		t.Helper()
		l, err := lease.Acquire(store, agent, session)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	mine := acquire("a", "s")
	if _, err := lease.Acquire(store, "a", "s"); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("the second lease: got %v, want ErrHeld", err)
	}
	acquire("b", "s").Release()
	mine.Release()
	acquire("a", "s").Release()
	if left := files(); len(left) > 0 {
		t.Errorf("what was given back leaves %v", left)
	}

	other := startHolder(t, store)
	if _, err := lease.Acquire(store, "a", "s"); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("while another process has it: got %v, want ErrHeld", err)
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
