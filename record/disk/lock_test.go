//go:build linux

package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A waiter for a lock gives up after a while, and says who holds the lock. It does not keep
// the lock when the holder releases it later.
func TestLock(t *testing.T) {
	for name, how := range map[string][2]int{
		"to read what is written": {unix.LOCK_EX, unix.LOCK_SH},
		"to write what is read":   {unix.LOCK_SH, unix.LOCK_EX},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			open := func() *os.File {
				f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			holder := open()
			if err := flock(holder, how[0]); err != nil {
				t.Fatal(err)
			}
			late := open()
			assertHeld(t, lock(late, how[1], 10*time.Millisecond))
			late.Close()

			patient := open()
			got := make(chan error)
			go func() { got <- lock(patient, how[1], time.Minute) }()
			holder.Close()
			if err := <-got; err != nil {
				t.Errorf("a lock that was given back: %v", err)
			}
			patient.Close()
			if err := flock(open(), unix.LOCK_EX); err != nil { // would wait forever
				t.Error(err)
			}
		})
	}
}

// assertHeld fails unless err says that this process has held a lock for too
// long.
func assertHeld(t *testing.T, err error) {
	t.Helper()
	if want := fmt.Sprintf("process %d has held the lock for 10ms; ", os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
