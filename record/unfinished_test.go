//go:build linux

package record_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/acptap/acptap/record"
)

// Unfinished files of processes that have ended are removed; those that are still being
// written are not.
func TestUnfinished(t *testing.T) {
	store := record.OpenStore(filepath.Join(t.TempDir(), "[store"))
	finish(t, store, begin(t, store))
	const dead, made = "tapes/20260102T150405000-aaaaaa.db.new-1", "tapes/20260102T150405000-bbbbbb.db.new-2"
	for _, name := range []string{dead, made, "acptap.db.new-3", "acptap.db.new-4", "live/20260102T150405000-bbbbbb.lock"} {
		writeFile(t, filepath.Join(store.Dir(), name), nil)
	}
	for _, name := range []string{"acptap.db.new-4", "live/20260102T150405000-bbbbbb.lock"} {
		f, err := os.Open(filepath.Join(store.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Recover(func() bool { return false }, nil); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]bool{dead: false, made: true, "acptap.db.new-3": false, "acptap.db.new-4": true} {
		if _, err := os.Stat(filepath.Join(store.Dir(), name)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", name, err, want)
		}
	}
}
