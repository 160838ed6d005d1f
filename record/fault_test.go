//go:build linux

package record

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// poisoned returns a view of the store in which dissecting a certain text panics. It also
// returns the number of panics, and the errors that the store reports.
func poisoned(dir string) (store *Store, panics *atomic.Int32, told chan error) {
	store, panics, told = OpenStore(dir), new(atomic.Int32), make(chan error, 10)
	store.testHook = func(payload []byte) {
		if bytes.Contains(payload, []byte("poison")) {
			panics.Add(1)
			panic("\x1b[31mpoison")
		}
	}
	store.OnError = func(err error) { told <- err }
	return store, panics, told
}

// record1 records a tape of these lines.
func record1(t *testing.T, store *Store, lines ...string) *Recorder {
	t.Helper()
	j, err := store.Record(Start{Command: []string{"agent"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		j.Close()
		j.Wait()
	})
	for _, line := range lines {
		if err := j.Append(wire.AgentToClient, wire.Wire, []byte(line+"\n")); err != nil {
			t.Error(err)
		}
	}
	return j
}

func closeJournal(t *testing.T, j *Recorder) {
	t.Helper()
	j.Exit(0, nil, [wire.Directions]int64{})
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	j.Wait()
}

// rowsOf returns the lines of a tape, marks in words, and the errors of reading.
func rowsOf(t *testing.T, store *Store, tape string) (rows []string, errs []error) {
	t.Helper()
	opened, err := store.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range opened.Frames(1) {
		switch m := wire.ReadMark(f.Frame); {
		case err != nil:
			errs = append(errs, err)
		case m.Fault != "":
			rows = append(rows, "fault")
		case m.Exit != nil:
			rows = append(rows, "exit")
		case len(f.Raw) > 100:
			rows = append(rows, "long")
		default:
			rows = append(rows, string(f.Raw))
		}
	}
	return rows, errs
}

// assertAside fails unless the journal of the tape is set aside, the doctor says so, and no
// reader panics.
func assertAside(t *testing.T, dir, tape string) {
	t.Helper()
	store, panics, told := poisoned(dir)
	j := record1(t, store, "{}")
	if err := store.recoverAll(false, func() bool { return false }, nil); err != nil {
		t.Error(err)
	}
	closeJournal(t, j)
	if n := panics.Load(); n > 0 || len(told) > 0 {
		t.Errorf("the next proxy has run into the journal %d times", n)
	}
	named := 0
	for _, d := range OpenStore(dir).Examine(true, nil) {
		if d.Bad && strings.Contains(d.What, "tape "+tape+" was set aside") && strings.Contains(d.What, `panic: \x1b[31mpoison`) {
			named++
		}
	}
	if named != 1 {
		t.Errorf("the doctor names it %d times, want once", named)
	}
	rows, errs := rowsOf(t, store, tape)
	if len(rows) != 1 || len(errs) != 1 || !errors.Is(errs[0], ErrDamaged) {
		t.Errorf("reading it gave %q and %v, want one line, and damage", rows, errs)
	}
	if l, err := store.List(); err != nil || len(l.Broken) != 1 || l.Broken[0].Tape != tape {
		t.Errorf("listed as broken: %v, %v", l.Broken, err)
	}
}

// assertMended fails unless the tape can be sealed once the fault is mended.
func assertMended(t *testing.T, dir, tape string, want ...string) {
	t.Helper()
	store := OpenStore(dir)
	if err := store.Recover(func() bool { return false }, nil); err != nil {
		t.Error(err)
	}
	rows, errs := rowsOf(t, store, tape)
	if fmt.Sprint(rows) != fmt.Sprint(want) || len(errs) > 0 {
		t.Errorf("sealed: %q, %v, want %q", rows, errs, want)
	}
	if l, err := store.List(); err != nil || len(l.Broken) > 0 || len(store.journals()) > 0 {
		t.Errorf("broken %v, in live/ %v, %v", l.Broken, store.journals(), err)
	}
}

// A panic behind a journal ends the sealing of that tape, and nothing else: what
// passes is recorded further on.
func TestPanicOfSealer(t *testing.T) {
	dir := t.TempDir()
	store, panics, told := poisoned(dir)
	long := strings.Repeat("x", 300<<10)
	j := record1(t, store, "{}")
	for _, line := range []string{`"poison"`, long, long, long, long} {
		if err := j.Append(wire.AgentToClient, wire.Wire, []byte(line+"\n")); err != nil {
			t.Error(err)
		}
	}
	if err := <-told; !strings.Contains(err.Error(), "tape "+j.Tape()+" stays in its journal") {
		t.Errorf("told of %v", err)
	}
	if err := j.Append(wire.AgentToClient, wire.Wire, []byte("[]\n")); err != nil {
		t.Error(err)
	}
	closeJournal(t, j)
	if n := panics.Load(); n != 1 || len(told) > 0 {
		t.Errorf("%d panics, want one; told %d times more of trouble", n, len(told))
	}
	assertAside(t, dir, j.Tape())
	assertMended(t, dir, j.Tape(), "{}", `"poison"`, "long", "long", "long", "long", "fault", "[]", "exit")
}

// Where the panic comes at the end, when the rest is sealed, it is the same.
func TestPanicAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	store, _, told := poisoned(dir)
	j := record1(t, store, "{}", `"poison"`)
	closeJournal(t, j)
	if len(told) == 0 { // it had no time at the end
		store.Recover(func() bool { return false }, nil)
	}
	if len(told) != 1 {
		t.Errorf("told %d times of trouble, want once", len(told))
	}
	assertAside(t, dir, j.Tape())
	assertMended(t, dir, j.Tape(), "{}", `"poison"`, "exit")
}

// leaveJournal leaves a journal as a killed proxy does, and returns its tape.
func leaveJournal(t *testing.T, dir string, lines ...string) (tape string) {
	t.Helper()
	store, now := OpenStore(dir), time.Now()
	if err := store.make(); err != nil {
		t.Fatal(err)
	}
	tape, lock, err := store.reserveID("", now)
	if err != nil {
		t.Fatal(err)
	}
	j, err := newRecorder(store, tape, Start{Time: now}, now, lock)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if err := j.Append(wire.AgentToClient, wire.Wire, []byte(line+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	j.Writer.Close()
	j.Release()
	lock.Close()
	return tape
}

// The journal that a killed proxy has left ends no other proxy.
func TestPoisonedJournal(t *testing.T) {
	dir := t.TempDir()
	killed := leaveJournal(t, dir, "{}", `"poison"`)
	store, panics, told := poisoned(dir)
	j := record1(t, store, "{}")
	if err := <-told; !strings.Contains(err.Error(), killed+" is set aside") {
		t.Errorf("told of %v", err)
	}
	closeJournal(t, j)
	if n := panics.Load(); n != 1 || len(told) > 0 {
		t.Errorf("%d panics, want one; told %d times more of trouble", n, len(told))
	}
	assertAside(t, dir, killed)
	assertMended(t, dir, killed, "{}", `"poison"`)
}
