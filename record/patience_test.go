//go:build linux

package record

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acptap/acptap/record/disk"
)

const oneLine = `{"acptap":1,"tape":"20260102T150405000-aaaaaa"}` + "\n" + `{"dir":"c2a","frame":{"method":"m"}}` + "\n"

// importOne returns a store with a tape.
func importOne(t testing.TB) (store *Store, tape string) {
	t.Helper()
	store = &Store{dir: t.TempDir(), timeout: 10 * time.Millisecond}
	tape, err := store.Import(strings.NewReader(oneLine), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	return store, tape
}

// lockCatalogue locks the catalogue of a store, until the test ends or closes it.
func lockCatalogue(t *testing.T, store *Store) *os.File {
	t.Helper()
	f, err := disk.OpenLocked(store.catalogue().Path, os.O_RDWR, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// assertHeld fails unless err says that this process has held a lock for too
// long.
func assertHeld(t *testing.T, err error) {
	t.Helper()
	if want := fmt.Sprintf("process %d has held the lock for 10ms; ", os.Getpid()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// A command gives up if it must write to something that another process has locked; it does
// what is possible without that.
func TestCommandsGiveUp(t *testing.T) {
	store, tape := importOne(t)
	catalogue := lockCatalogue(t, store)
	if _, err := store.Import(strings.NewReader(oneLine), "file", nil); err != nil {
		t.Errorf("importing without the catalogue: %v", err)
	}
	l, err := store.List()
	if err != nil || len(l.Tapes) != 2 {
		t.Errorf("listed without the catalogue: %+v, %v", l, err)
	}
	assertHeld(t, l.Held)
	gone, err := store.Delete(tape)
	assertHeld(t, err)
	if len(gone) != 1 || store.hasFile(tape) {
		t.Errorf("deleted %v", gone)
	}
	catalogue.Close()
	if l, err := store.List(); err != nil || len(l.Tapes) != 1 || len(l.Broken) > 0 {
		t.Errorf("listed: %+v, %v", l, err)
	}
}

// A reader that looks whether a tape is being recorded holds its lock for a
// moment: that is no reason not to delete it.
func TestDeleteWhileLookedAt(t *testing.T) {
	store := OpenStore(t.TempDir())
	tape, err := store.Import(strings.NewReader(oneLine), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := disk.TryLock(store.lockFile(tape), true) // as if its proxy had been killed
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Delete(tape); !errors.Is(err, ErrLive) {
		t.Errorf("deleting what is recorded: %v", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { lock.Close() })
	if _, err := store.Delete(tape); err != nil {
		t.Error(err)
	}
}

// Who waited for the catalogue to tell it of a tape that was deleted meanwhile
// does not tell it.
func TestIndexOfDeleted(t *testing.T) {
	store, tape := importOne(t)
	if err := store.forget([]string{tape}); err != nil {
		t.Fatal(err)
	}
	catalogue := lockCatalogue(t, store)
	patient := &Store{dir: store.dir}
	done := make(chan error)
	go func() { done <- patient.index(tape) }()
	for !hasWaiter(t, catalogue) {
		runtime.Gosched()
	}
	if err := os.Remove(store.tapeFile(tape).Path); err != nil {
		t.Fatal(err)
	}
	catalogue.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if tapes, _, err := store.readCatalogue(0); err != nil || len(tapes) > 0 {
		t.Errorf("the catalogue has %v, %v", tapes, err)
	}
}

// hasWaiter reports whether a process waits for the lock of a file.
func hasWaiter(t *testing.T, f *os.File) bool {
	t.Helper()
	fi, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(locks)) {
		if strings.Contains(line, "-> FLOCK") && strings.Contains(line, fmt.Sprintf(":%d ", fi.Sys().(*syscall.Stat_t).Ino)) {
			return true
		}
	}
	return false
}
