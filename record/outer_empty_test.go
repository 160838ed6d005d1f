//go:build linux

package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A tape on which nothing passed is not among the outer ones, sealed or not, unless it is
// being recorded.
func TestOuterEmpty(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	full := begin(t, store)
	full.Append(wire.AgentStderr, wire.Wire, []byte("x\n"))
	finish(t, store, full)
	unstarted := begin(t, store)
	unstarted.StartFailed(127, errors.New("not found"))
	running := begin(t, store)
	defer finish(t, store, running)
	killed := orphan(t, store)
	reserved := filepath.Join(killed.Dir(), "live", "20991231T000000000-aaaaaa.lock") // its journal was not made yet
	if err := os.WriteFile(reserved, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(store *record.Store, want ...string) {
		t.Helper()
		ids, err := store.Tapes()
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(store.Outer(ids)); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	check(killed, full.Tape())
	sealAll(t, killed)
	check(killed, full.Tape())
	unstarted.Close()
	unstarted.Wait()
	check(store, running.Tape(), full.Tape())
}
