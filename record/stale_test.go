//go:build linux

package record_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A journal whose first segments were sealed while others were adopted leaves
// nothing behind: of a tape that is deleted later, nobody could read the rest then.
func TestAdoptGrownJournal(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	early := orphan(t, store) // the journals as they are listed
	gen, n := newTraffic(7), 0
	for n < 6<<20 {
		dir, p := gen.next()
		n += len(p)
		j.Append(dir, wire.Wire, p)
	}
	killed := orphan(t, store)
	finish(t, store, j)
	looks := 0
	killed.Adopt(func() bool { looks++; return looks > 5 }, nil) // as a proxy that is killed after some blocks
	first := filepath.Join(killed.Dir(), "live", j.Tape()+".0000000000100000")
	if _, err := os.Stat(first); !os.IsNotExist(err) {
		t.Fatalf("%s: %v, want it sealed", first, err)
	}
	if len(segmentsOf(t, killed)) == 0 {
		t.Fatal("all of the journal is sealed already")
	}
	listed := func(int, int) { // so what follows was before
		for _, dir := range []string{"live", "tapes"} {
			if err := os.RemoveAll(filepath.Join(early.Dir(), dir)); err != nil {
				t.Fatal(err)
			}
			copyDir(t, filepath.Join(killed.Dir(), dir), filepath.Join(early.Dir(), dir))
		}
	}
	if err := early.Adopt(func() bool { return false }, listed); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(early.Dir(), "live")); err != nil || len(left) > 0 {
		t.Errorf("left in live/: %v, %v", left, err)
	}
	if info, err := open(t, early, j.Tape()).Info(); err != nil || !info.Complete {
		t.Errorf("the tape is complete: %t, %v", info.Complete, err)
	}
}
