//go:build linux

package record_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
)

// A session is leased once, whoever asks, until it is given back or its process
// was killed; what that has left goes with the next lease.
func TestLease(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	lease := func(agent, session string) *record.Lease {
		t.Helper()
		l, err := store.Lease(agent, session)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	mine := lease("a", "s")
	if _, err := record.OpenStore(store.Dir()).Lease("a", "s"); !errors.Is(err, record.ErrLeased) {
		t.Errorf("the second lease: got %v, want ErrLeased", err)
	}
	lease("b", "s").Release()
	mine.Release()
	lease("a", "s").Release()
	if files, _ := filepath.Glob(filepath.Join(store.Dir(), "leases", "*")); len(files) > 0 {
		t.Errorf("what was given back leaves %v", files)
	}

	other := play(t, "lease", store.Dir())
	other.line(t)
	if _, err := store.Lease("a", "s"); !errors.Is(err, record.ErrLeased) {
		t.Errorf("while another process has it: got %v, want ErrLeased", err)
	}
	other.Process.Kill()
	other.Wait()
	files, _ := filepath.Glob(filepath.Join(store.Dir(), "leases", "*"))
	for _, file := range files {
		os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour))
	}
	lease("a", "other").Release()
	lease("a", "s").Release()
	if left, _ := filepath.Glob(filepath.Join(store.Dir(), "leases", "*")); len(files) != 1 || len(left) > 0 {
		t.Errorf("a killed process leaves %v, and then %v", files, left)
	}
}

// leaseRole leases a session until its stdin ends.
func leaseRole(args []string) error {
	l, err := record.OpenStore(args[0]).Lease("a", "s")
	if err != nil {
		return err
	}
	fmt.Println("leased")
	io.Copy(io.Discard, os.Stdin)
	return l.Release()
}
