//go:build linux

package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A reader does not wait for ever for one who holds a lock, and says who that is.
// The lock that it asked for does not stay held once that one has let go.
func TestLockShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	holder := open()
	if err := flock(holder, unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	late := open()
	err := lockShared(late, 10*time.Millisecond)
	if want := fmt.Sprintf("process %d has held the lock for 10ms; ", os.Getpid()); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	late.Close()

	patient := open()
	got := make(chan error)
	go func() { got <- lockShared(patient, time.Minute) }()
	holder.Close()
	if err := <-got; err != nil {
		t.Errorf("a lock that was given back: %v", err)
	}
	patient.Close()
	if err := flock(open(), unix.LOCK_EX); err != nil { // would wait for ever
		t.Error(err)
	}
}
