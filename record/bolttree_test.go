//go:build linux

package record_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/acptap/acptap/record"
)

// A branch page that leads back to itself would make bbolt recurse until the
// process dies. Every page in turn becomes one, in the catalogue and in a tape.
func TestBranchCycle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	tape := recordTape(t, dir, 20_000)
	page := int64(os.Getpagesize())
	for _, name := range []string{"acptap.db", "tapes/" + tape + ".db"} {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damaged := 0
		for id := int64(2); id < min(int64(len(whole))/page, 40); id++ {
			b := append([]byte(nil), whole...)
			p := b[id*page:]
			binary.NativeEndian.PutUint64(p, uint64(id))
			binary.NativeEndian.PutUint16(p[8:], 1) // a branch page
			binary.NativeEndian.PutUint16(p[10:], 1)
			binary.NativeEndian.PutUint32(p[12:], 0)
			binary.NativeEndian.PutUint32(p[16:], 16) // its one element, with an empty key
			binary.NativeEndian.PutUint32(p[20:], 0)
			binary.NativeEndian.PutUint64(p[24:], uint64(id)) // leads to itself
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			store := record.OpenStore(dir)
			if _, err := store.List(); err != nil {
				t.Fatal(err)
			}
			opened, err := store.Open(tape)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range opened.Frames(1) {
				if errors.Is(err, record.ErrDamaged) {
					damaged++
				}
			}
		}
		if damaged == 0 && name != "acptap.db" {
			t.Errorf("%s: no page of %d was missed", name, int64(len(whole))/page)
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// recordTape records a tape of n updates, and returns its id.
func recordTape(t *testing.T, dir string, n int) string {
	t.Helper()
	store := record.OpenStore(dir)
	j, err := store.Record(record.Start{Command: []string{"agent"}})
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word"}}}}` + "\n")
	for range n {
		if err := j.Append(1, 0, line); err != nil {
			t.Fatal(err)
		}
	}
	finish(t, store, j)
	return j.Tape()
}
