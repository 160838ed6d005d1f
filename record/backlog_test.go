//go:build linux

package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// troubles collects the errors that a store reports.
type troubles struct {
	mu   sync.Mutex
	errs []error // guarded by mu
}

func (c *troubles) of(store *record.Store) *record.Store {
	store.OnError = func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.errs = append(c.errs, err)
	}
	return store
}

// check fails unless there was trouble once, and its text has all of want.
func (c *troubles) check(t *testing.T, want ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.errs) != 1 {
		t.Fatalf("told %d times of trouble, want once: %v", len(c.errs), c.errs)
	}
	for _, w := range want {
		if text := c.errs[0].Error(); !strings.Contains(text, w) {
			t.Errorf("told of %q, want %q in it", text, w)
		}
	}
}

// Where nothing can be sealed and the disk is short, what is not recorded any
// more is marked, and so is how the agent ended.
func TestBacklogOnShortDisk(t *testing.T) {
	dir := smallDisk(t, "size=96m")
	var told troubles
	store := told.of(record.OpenStore(filepath.Join(dir, "store")))
	j := begin(t, store)
	// A directory in its place keeps the tape from being sealed.
	blocked := filepath.Join(store.Dir(), "tapes", j.Tape()+".db")
	if err := os.Mkdir(blocked, 0o700); err != nil {
		t.Fatal(err)
	}
	p := passed{Tape: j.Tape()}
	text := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"%0450d"}`+"\n", 0) // such records, of 512 bytes, fill a segment to its end
	for p.Bytes < 22<<20 {
		p.Bytes += int64(len(text))
		if err := j.Append(wire.AgentToClient, wire.Wire, text); err != nil {
			p.Failed += int64(len(text))
		}
	}
	j.EOF(wire.AgentToClient)
	j.Exit(3, nil, [wire.Directions]int64{})
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	j.Wait()
	told.check(t, "wait to be sealed", "are free on the disk")
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		p.check(t, store)
		if info, err := open(t, store, p.Tape).Info(); err != nil || info.Exit == nil || info.Exit.Code != 3 {
			t.Errorf("the tape says that the agent ended with %+v, want status 3: %v", info.Exit, err)
		}
	}
	check()
	sealAll(t, store)
	check()
}

// All tapes that are open when a process ends are sealed, if it may take the time.
func TestEndTime(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	store.EndTime = time.Minute
	var closing sync.WaitGroup
	for range 50 {
		j := begin(t, store)
		j.Append(wire.ClientToAgent, wire.Wire, []byte("{}\n"))
		closing.Go(func() { j.Close() })
	}
	closing.Wait()
	if left, err := os.ReadDir(filepath.Join(store.Dir(), "live")); err != nil || len(left) > 0 {
		t.Errorf("%d files of journals are left, %v", len(left), err)
	}
}

// After a listing, reading a tape from its journal takes no longer if there are many others.
func TestManyJournals(t *testing.T) {
	store := left(t, func(*record.Recorder) {})
	ids, err := store.Tapes()
	if err != nil {
		t.Fatal(err)
	}
	allocs := func() float64 {
		t.Helper()
		if _, err := store.List(); err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(10, func() {
			if n := len(lines(t, open(t, store, ids[0]))); n != 1 {
				t.Fatalf("%d lines, want 1", n)
			}
		})
	}
	alone := allocs()
	for i := range 500 {
		name := fmt.Sprintf("20250102T030405000-%06d.lock", i)
		if err := os.WriteFile(filepath.Join(store.Dir(), "live", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if crowded := allocs(); crowded > 2*alone {
		t.Errorf("%v allocations with many journals, %v with one", crowded, alone)
	}
}
