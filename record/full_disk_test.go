//go:build linux

package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// passed counts what went by while the disk was full for a time.
type passed struct {
	Tape   string
	Bytes  int64 // in all
	Failed int64 // that Append could not store
	After  int   // frames after there was room again
}

// fullDisk records traffic while a disk has room, has none, and has again.
func fullDisk(j *record.Recorder, fill, clear func() error) (passed, error) {
	p := passed{Tape: j.Tape()}
	gen := newTraffic(20)
	feed := func(n int) error {
		for range n {
			dir, b := gen.next()
			p.Bytes += int64(len(b))
			if err := j.Append(dir, wire.Wire, b); err != nil {
				p.Failed += int64(len(b))
			}
		}
		return nil
	}
	p.After = 3000
	return p, errors.Join(feed(5000), fill(), feed(9000), clear(), feed(p.After))
}

// check fails unless the tape has all that was not refused, and says exactly how
// much is missing.
func (p passed) check(t *testing.T, store *record.Store) {
	t.Helper()
	if p.Failed == 0 {
		t.Fatal("the disk was never full")
	}
	var here, lost int64
	behind := 0 // frames behind the last gap
	for f, err := range open(t, store, p.Tape).Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind != wire.Mark {
			here += f.Size + int64(len(f.End.Bytes()))
			behind++
			continue
		}
		m := wire.ReadMark(f.Frame)
		if m.Damage > 0 {
			t.Errorf("frame %d: damage of %d bytes; nothing is damaged", f.Seq, m.Damage)
		}
		if m.Gap > 0 {
			lost += m.Gap
			behind = 0
		}
	}
	if lost != p.Failed || here+lost != p.Bytes {
		t.Errorf("%d bytes are on the tape and %d are marked as lost; %d went by and %d were refused", here, lost, p.Bytes, p.Failed)
	}
	if behind < p.After-1 {
		t.Errorf("%d frames behind the last gap, want %d", behind, p.After)
	}
	info, err := open(t, store, p.Tape).Info()
	if err != nil || info.Lost != p.Failed {
		t.Errorf("the tape says that %d bytes are lost, want %d: %v", info.Lost, p.Failed, err)
	}
}

// fullRole records into the store args[0] and may write to no file for a time.
func fullRole(args []string) error {
	signal.Ignore(unix.SIGXFSZ)
	store := record.OpenStore(args[0])
	j, err := store.Record(record.Start{})
	if err != nil {
		return err
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	p, err := fullDisk(j,
		func() error { return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1, Max: old.Max}) },
		func() error { return unix.Setrlimit(unix.RLIMIT_FSIZE, &old) })
	if err != nil {
		return err
	}
	j.Exit(0, nil, [wire.Directions]int64{})
	if err := j.Close(); err != nil {
		return err
	}
	text, err := json.Marshal(p)
	fmt.Println(string(text))
	return err
}

func TestNoFileMayGrow(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	var p passed
	if err := json.Unmarshal([]byte(play(t, "full", store.Dir()).rest(t)), &p); err != nil {
		t.Fatal(err)
	}
	p.check(t, store)
	sealAll(t, store)
	p.check(t, store)
}

// smallDisk mounts a file system of some megabytes.
func smallDisk(t testing.TB, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("only root can make a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk writes a file until the disk is full.
func fillDisk(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(bytes.Repeat([]byte{1}, size)); err != nil {
			size /= 2
		}
	}
	return nil
}

func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, "size=8m")
	filler := filepath.Join(dir, "filler")
	store := record.OpenStore(filepath.Join(dir, "store"))
	j := begin(t, store)
	p, err := fullDisk(j, func() error { return fillDisk(filler) }, func() error { return os.Remove(filler) })
	if err != nil {
		t.Fatal(err)
	}
	finish(t, store, j)
	p.check(t, store)
}

// waitForNext blocks until a segment has been opened ahead: it is the last one, and has its
// full reserved length.
func waitForNext(t *testing.T, store *record.Store) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		names := segmentsOf(t, store)
		if fi, err := os.Stat(names[len(names)-1]); err == nil && fi.Size() == 8<<10 {
			return
		}
	}
	t.Fatal("no segment was opened ahead")
}

// Where the disk stays full, there is room for how much is missing and for how
// the agent ended: it was set aside while there was some.
func TestFullDiskToTheEnd(t *testing.T) {
	dir := smallDisk(t, "size=8m")
	store := record.OpenStore(filepath.Join(dir, "store"))
	j := begin(t, store)
	fill := func() error {
		waitForNext(t, store)
		return fillDisk(filepath.Join(dir, "filler"))
	}
	p, err := fullDisk(j, fill, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	p.After = 0
	j.EOF(wire.ClientToAgent)
	j.Exit(3, nil, [wire.Directions]int64{})
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	p.check(t, store)
	if info, err := open(t, store, p.Tape).Info(); err != nil || info.Exit == nil || info.Exit.Code != 3 {
		t.Errorf("the tape says that the agent ended with %+v, want status 3: %v", info.Exit, err)
	}
}

// A tape that cannot begin leaves nothing behind.
func TestFullDiskFromTheStart(t *testing.T) {
	dir := smallDisk(t, "size=1m")
	store := record.OpenStore(filepath.Join(dir, "store"))
	finish(t, store, begin(t, store)) // makes the directories
	filler := filepath.Join(dir, "filler")
	if err := fillDisk(filler); err != nil {
		t.Fatal(err)
	}
	if j, err := store.Record(record.Start{}); err == nil {
		j.Close()
		t.Error("recording on a full disk")
	} else if !strings.Contains(err.Error(), store.Dir()) {
		t.Errorf("got %v, want where there is no space", err)
	}
	if left, err := os.ReadDir(filepath.Join(store.Dir(), "live")); err != nil || len(left) > 0 {
		t.Errorf("left in live/: %v, %v", left, err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	finish(t, store, begin(t, store))
	if l, err := store.List(); err != nil || len(l.Tapes) != 2 || len(l.Broken) > 0 {
		t.Errorf("listed: %+v, %v", l, err)
	}
}

// A store that can be read but not written: nothing would be recorded.
func TestReadOnlyDisk(t *testing.T) {
	dir := smallDisk(t, "size=8m")
	store := record.OpenStore(filepath.Join(dir, "store"))
	finish(t, store, begin(t, store))
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if l, err := store.List(); err != nil || len(l.Tapes) != 1 {
		t.Errorf("listed: %+v, %v", l, err)
	}
	if j, err := store.Record(record.Start{}); err == nil {
		j.Close()
		t.Error("recording on a disk that is read-only")
	}
	told := func(d record.Diagnosis) bool { return d.Bad && strings.Contains(d.What, "read-only file system") }
	if found := store.Examine(false, nil); !slices.ContainsFunc(found, told) {
		t.Errorf("got %+v, want that nothing can be written", found)
	}
}
