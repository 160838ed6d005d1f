//go:build linux

package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Nobody waits for ever for one who holds a lock, and says who that is. The lock
// that was asked for does not stay held once that one has let go.
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
			if err := flock(open(), unix.LOCK_EX); err != nil { // would wait for ever
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

const oneLine = `{"acptap":1,"tape":"20260102T150405000-aaaaaa"}` + "\n" + `{"dir":"c2a","frame":{"method":"m"}}` + "\n"

// importOne returns a store with a tape.
func importOne(t testing.TB) (store *Store, tape string) {
	t.Helper()
	store = &Store{dir: t.TempDir(), patience: 10 * time.Millisecond}
	tape, err := store.Import(strings.NewReader(oneLine), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	return store, tape
}

// lockCatalogue locks the catalogue of a store, until the test ends or closes it.
func lockCatalogue(t *testing.T, store *Store) *os.File {
	t.Helper()
	f, err := openLocked(store.catalogue().path, os.O_RDWR, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// A command gives up where it has to write what somebody holds; what it can do
// without is done.
func TestCommandsGiveUp(t *testing.T) {
	store, tape := importOne(t)
	catalogue := lockCatalogue(t, store)
	if _, err := store.Import(strings.NewReader(oneLine), "file", nil); err != nil {
		t.Errorf("importing without the catalogue: %v", err)
	}
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
	lock, err := tryLock(store.lockFile(tape), true) // as if its proxy had been killed
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Delete(tape); !errors.Is(err, ErrLive) {
		t.Errorf("deleting what is recorded: %v", err)
	}
	if err := flock(lock, unix.LOCK_SH); err != nil {
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
	if err := os.Remove(store.tapeFile(tape).path); err != nil {
		t.Fatal(err)
	}
	catalogue.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if tapes, _, err := store.readCatalogue(); err != nil || len(tapes) > 0 {
		t.Errorf("the catalogue has %v, %v", tapes, err)
	}
}

// hasWaiter reports whether somebody waits for the lock of a file.
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
