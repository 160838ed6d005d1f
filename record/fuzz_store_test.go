//go:build linux

package record

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/testdata/memtest"
)

// visit performs all operations of commands on a store that has been tampered with: none may
// panic or take too much memory.
func visit(t *testing.T, store *Store) {
	memtest.Bound(t, func() {
		l, err := store.List()
		if err != nil {
			t.Error(err)
		}
		for _, info := range l.Tapes {
			tape, err := store.Open(info.Tape)
			if err != nil {
				t.Error(err)
				continue
			}
			last := uint64(0)
			for f, err := range tape.Frames(1) {
				if err == nil && f.Seq <= last {
					t.Fatalf("frame %d behind frame %d", f.Seq, last)
				}
				if err == nil {
					last = f.Seq
				}
			}
		}
		store.Recover(func() bool { return false }, nil)
		store.Examine(true, nil)
	})
}

// FuzzJournal reads and seals any bytes that stand where a segment should.
func FuzzJournal(f *testing.F) {
	const tape = "20260102T150405000-aaaaaa"
	files := journal.FilesAt(filepath.Join(f.TempDir(), tape))
	w, err := journal.Create(files, Start{}, time.Now(), new(atomic.Int64), nil)
	if err != nil {
		f.Fatal(err)
	}
	seed := func() {
		segment, err := os.ReadFile(files.Segment(0))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(segment[:w.End()])
	}
	seed()
	if err := w.Append(wire.AgentToClient, wire.Wire, []byte("{}\n")); err != nil {
		f.Fatal(err)
	}
	w.Exit(0, nil, [wire.Directions]int64{})
	seed()
	w.Close()
	w.Release()
	f.Fuzz(func(t *testing.T, segment []byte) {
		store := &Store{dir: t.TempDir()}
		if err := store.make(); err != nil {
			t.Fatal(err)
		}
		for path, b := range map[string][]byte{store.lockFile(tape): nil, store.journal(tape).Segment(0): segment} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		visit(t, store)
	})
}

// FuzzCatalogue lists a store, and puts a tape into its catalogue, whatever bytes
// that consists of.
func FuzzCatalogue(f *testing.F) {
	store, _ := importOne(f)
	whole, err := os.ReadFile(store.catalogue().Path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, 0, byte(0))
	f.Add(whole, 4096*3+20, byte(0xff))
	f.Add([]byte("no database"), 0, byte(1))
	f.Fuzz(func(t *testing.T, file []byte, at int, b byte) {
		store, _ := importOne(t)
		if file = append([]byte(nil), file...); 0 <= at && at < len(file) {
			file[at] ^= b
		}
		if err := os.WriteFile(filepath.Join(store.dir, "acptap.db"), file, 0o600); err != nil {
			t.Fatal(err)
		}
		visit(t, store)
		if l, err := store.List(); err != nil || len(l.Tapes) != 1 {
			t.Errorf("listed %d tapes, want 1: %v", len(l.Tapes), err)
		}
		store.index("20260102T150405000-aaaaaa")
	})
}
