//go:build linux

package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// readLocked reads a bbolt file under its lock, so that it is not seen half
// written.
func readLocked(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// lockRole holds the exclusive lock of a file until its stdin ends.
func lockRole(args []string) error {
	f, err := os.OpenFile(args[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	fmt.Println("locked")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// waitForLock takes the exclusive lock of a file, and returns how long that took.
func waitForLock(t testing.TB, path string) time.Duration {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	began := time.Now()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// assertUnlocked fails if a file is locked.
func assertUnlocked(t testing.TB, path string) {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("%s: its lock was not given back: %v", path, err)
	}
}

// Whoever holds the tape's file or the catalogue stops neither recording nor
// Close; what could not be sealed is sealed later.
func TestLockedFiles(t *testing.T) {
	for _, name := range []string{"acptap.db", "tape"} {
		t.Run(name, func(t *testing.T) {
			store := record.OpenStore(t.TempDir())
			first := begin(t, store) // makes the catalogue
			first.Append(wire.AgentToClient, wire.Wire, []byte("{}\n"))
			finish(t, store, first)

			j := begin(t, store)
			path := filepath.Join(store.Dir(), name)
			if name == "tape" {
				path = filepath.Join(store.Dir(), "tapes", j.Tape()+".db")
			}
			gen := newTraffic(3)
			want := newSums()
			feed := func() {
				for range 4000 {
					dir, p := gen.next()
					want[dir].Write(p)
					if err := j.Append(dir, wire.Wire, p); err != nil {
						t.Fatal(err)
					}
				}
			}
			feed()
			waitFor(t, path)
			locker := play(t, "lockfile", path)
			locker.line(t)
			feed()
			feed()
			if name == "acptap.db" { // by tape it can be read all the same
				if n := len(lines(t, open(t, store, j.Tape()))); n < 12_000 {
					t.Errorf("%d frames can be read while the catalogue is locked", n)
				}
			}
			j.Exit(0, nil, [wire.Directions]int64{})
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			locker.end() // not earlier: a waiter for the lock would wait forever
			locker.rest(t)
			sealAll(t, store)
			j.Wait()
			streams(t, open(t, store, j.Tape())).check(t, "sealed later", want)
			l, err := store.List()
			if err != nil {
				t.Fatal(err)
			}
			if len(l.Tapes) != 2 || !l.Tapes[0].Complete || !l.Tapes[1].Complete || len(l.Broken) > 0 {
				t.Errorf("listed: %+v", l)
			}
		})
	}
}

// A listing does not look through a long journal, and says so: it must not be
// taken for all of the tape, nor for one that was cut off.
func TestListedFarBehind(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	path := filepath.Join(store.Dir(), "tapes", j.Tape()+".db")
	const chunk = 64 << 10
	frame := append(bytes.Repeat([]byte("x"), chunk-1), '\n')
	feed := func(bytes int) {
		for range bytes / chunk {
			if err := j.Append(wire.AgentToClient, wire.Wire, frame); err != nil {
				t.Fatal(err)
			}
		}
	}
	feed(2 << 20)
	waitFor(t, path)
	locker := play(t, "lockfile", path) // so that nothing more is sealed
	locker.line(t)
	feed(10 << 20)
	copied := record.OpenStore(t.TempDir()) // as if the proxy were killed now
	copyDir(t, filepath.Join(store.Dir(), "live"), filepath.Join(copied.Dir(), "live"))
	if err := os.Mkdir(filepath.Join(copied.Dir(), "tapes"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(copied.Dir(), "tapes", filepath.Base(path)), readFile(t, path)) // no one writes: it is locked
	locker.end()
	locker.rest(t)
	finish(t, store, j)

	list := func() record.Info {
		l, err := copied.List()
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Tapes) != 1 || len(l.Broken) > 0 {
			t.Fatalf("listed: %+v", l)
		}
		return l.Tapes[0]
	}
	const all = (12 << 20) / chunk
	if i := list(); !i.Partial || i.Complete || i.Live || i.Frames >= all {
		t.Errorf("far behind: %+v", i)
	}
	sealAll(t, copied)
	if i := list(); i.Partial || !i.Complete || i.Frames != all {
		t.Errorf("sealed: %+v, want %d frames", i, all)
	}
}

// waitFor waits until a file is there.
func waitFor(t testing.TB, path string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(time.Millisecond) // it is written at a lower priority, by a goroutine that gives no signal
	}
	t.Fatalf("%s does not appear", path)
}

// Anything in live/ that is not a journal is not followed.
func TestLinkInLive(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	j.Append(wire.AgentToClient, wire.Wire, []byte("{}\n"))
	killed := orphan(t, store)
	finish(t, store, j)
	path := segmentsOf(t, killed)[0]
	elsewhere := filepath.Join(t.TempDir(), "segment")
	if err := os.Rename(path, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	for f, err := range open(t, killed, j.Tape()).Frames(1) {
		if err == nil {
			t.Errorf("read frame %d through a symbolic link", f.Seq)
		}
	}
	if err := killed.Recover(func() bool { return false }, nil); err == nil {
		t.Error("recovered through a symbolic link")
	}
}

func TestPermissions(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	store := record.OpenStore(filepath.Join(t.TempDir(), "new", "store"))
	j := begin(t, store)
	gen := newTraffic(4)
	for range 5000 {
		dir, p := gen.next()
		j.Append(dir, wire.Wire, p)
	}
	check := func() {
		err := filepath.Walk(store.Dir(), func(path string, info os.FileInfo, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil // sealed meanwhile
			}
			want := os.FileMode(0o600)
			if err == nil && info.IsDir() {
				want = 0o700
			}
			if err == nil && info.Mode().Perm() != want {
				t.Errorf("%s has the mode %v, want %v", strings.TrimPrefix(path, store.Dir()), info.Mode().Perm(), want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	check()
	finish(t, store, j)
	check()
}
