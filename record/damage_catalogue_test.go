//go:build linux

package record_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// The catalogue is an index: damage in it costs time, and Rebuild mends it.
func TestDamagedCatalogue(t *testing.T) {
	store, id, _, want := sealedTape(t, 500)
	path := filepath.Join(store.Dir(), "acptap.db")
	whole := readFile(t, path)
	listed, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	broken := [][]byte{{}, []byte("no bbolt"), whole[:5000], make([]byte, len(whole))}
	for at := 0; at < len(whole); at += 512 {
		damaged := bytes.Clone(whole)
		damaged[at+at/512%32] ^= 0x40
		broken = append(broken, damaged)
	}
	for i, b := range broken {
		writeFile(t, path, b)
		l, err := store.List()
		if err != nil || len(l.Tapes) != 1 || len(l.Broken) > 0 || l.Tapes[0].Lines != listed.Tapes[0].Lines {
			t.Fatalf("%d: %+v, %v", i, l, err)
		}
		if n := len(lines(t, open(t, store, id))); n != len(want) {
			t.Errorf("%d: %d frames, want %d", i, n, len(want))
		}
		assertUnlocked(t, path)
	}
	writeFile(t, path, []byte("no bbolt"))
	j := begin(t, store)
	j.Append(wire.AgentToClient, wire.Wire, []byte("{}\n"))
	finish(t, store, j)
	if err := store.Rebuild(nil); err != nil {
		t.Fatal(err)
	}
	if l, err := store.List(); err != nil || len(l.Tapes) != 2 || len(l.Sessions) != len(listed.Sessions) {
		t.Errorf("after Rebuild: %+v, %v", l, err)
	}
}
