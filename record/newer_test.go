//go:build linux

package record_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// Files written by a newer acptap are left unchanged.
func TestNewer(t *testing.T) {
	t.Run("journal", func(t *testing.T) {
		store, tape, _ := small(t)
		path := segmentsOf(t, store)[0]
		rewriteHead(t, path, `{"version":1`, `{"version":2`)
		whole := readFile(t, path)
		for _, err := range open(t, store, tape).Frames(1) {
			if !errors.Is(err, record.ErrNewer) {
				t.Errorf("reading: %v", err)
			}
		}
		if err := store.Recover(func() bool { return false }, nil); !errors.Is(err, record.ErrNewer) {
			t.Errorf("recovering: %v", err)
		}
		if !bytes.Equal(readFile(t, path), whole) {
			t.Error("the journal was changed")
		}
	})
	sealed, id, _, _ := sealedTape(t, 7000)
	file := func(store *record.Store) string { return filepath.Join(store.Dir(), "tapes", id+".db") }
	t.Run("block", func(t *testing.T) {
		store := orphan(t, sealed)
		changeLastHead(t, file(store), map[string]any{"version": 2})
		s := survive(t, open(t, store, id))
		if len(s.errs) != 1 || !errors.Is(s.errs[0], record.ErrNewer) {
			t.Errorf("errors %v, want one", s.errs)
		}
	})
	t.Run("what a block needs", func(t *testing.T) {
		for _, change := range []map[string]any{{"needs": []string{"rules", "tunnels"}}, {"needs": []string{"tunnels"}, "first": "half past"}} {
			store := orphan(t, sealed)
			changeLastHead(t, file(store), change)
			s := survive(t, open(t, store, id))
			if len(s.errs) != 1 || !errors.Is(s.errs[0], record.ErrNewer) || !strings.Contains(s.errs[0].Error(), needsTunnels) {
				t.Errorf("errors %v, want one: %s", s.errs, needsTunnels)
			}
		}
		store := orphan(t, sealed)
		changeLastHead(t, file(store), map[string]any{"needs": []string{"rules"}, "later": 1})
		if s := survive(t, open(t, store, id)); len(s.errs) > 0 {
			t.Errorf("of what is known: %v", s.errs)
		}
	})
	t.Run("what the facts need", func(t *testing.T) {
		store := orphan(t, sealed)
		edit(t, file(store), func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("tape"))
			return b.Put([]byte("info"), record.WithTags(t, b.Get([]byte("info")), map[uint64]any{0: []string{"tunnels"}}))
		})
		l, err := store.List()
		if err != nil || len(l.Broken) != 1 || !errors.Is(l.Broken[0].Err, record.ErrNewer) || !strings.Contains(l.Broken[0].Err.Error(), needsTunnels) {
			t.Errorf("listed %+v, %v", l, err)
		}
	})
	t.Run("how far it is sealed", func(t *testing.T) {
		store, id := partlySealed(t)
		path := filepath.Join(store.Dir(), "tapes", id+".db")
		edit(t, path, func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("tape"))
			return b.Put([]byte("sealed"), record.WithTags(t, b.Get([]byte("sealed")), map[uint64]any{0: []string{"tunnels"}}))
		})
		whole := readFile(t, path)
		if err := store.Recover(func() bool { return false }, nil); !errors.Is(err, record.ErrNewer) {
			t.Errorf("sealing: %v", err)
		}
		if !bytes.Equal(readFile(t, path), whole) {
			t.Error("the tape was changed")
		}
	})
	t.Run("one tape in the catalogue", func(t *testing.T) {
		store, id, _, _ := sealedTape(t, 300)
		j := begin(t, store)
		j.Append(wire.AgentToClient, wire.Wire, []byte("{}\n"))
		finish(t, store, j)
		path := filepath.Join(store.Dir(), "acptap.db")
		edit(t, path, func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("tapes"))
			return b.Put([]byte(id), record.WithTags(t, b.Get([]byte(id)), map[uint64]any{0: []string{"tunnels"}}))
		})
		writeFile(t, filepath.Join(store.Dir(), "tapes", j.Tape()+".db"), []byte("what the catalogue knows is not looked for here"))
		if l, err := store.List(); err != nil || len(l.Tapes) != 2 || len(l.Sessions) != 1 {
			t.Errorf("listed %+v, %v", l, err) // the tape itself tells
		}
	})
	t.Run("the catalogue", func(t *testing.T) {
		for key, value := range map[string]string{"head": `{"needs":["tunnels"],"later":1}`, "format": "2"} {
			store, id, _, _ := sealedTape(t, 300)
			path := filepath.Join(store.Dir(), "acptap.db")
			edit(t, path, func(tx *bolt.Tx) error { return tx.Bucket([]byte("tape")).Put([]byte(key), []byte(value)) })
			whole := readFile(t, path)
			l, err := store.List()
			if err != nil || len(l.Tapes) != 1 || len(l.Sessions) != 1 {
				t.Errorf("%s: listed %+v, %v", key, l, err)
			}
			told := false
			for _, d := range store.Examine(false, nil) {
				told = told || d.Bad && strings.Contains(d.What, "newer acptap") && strings.Contains(d.Advice, "newer acptap")
			}
			if !told {
				t.Errorf("%s: Examine does not tell", key)
			}
			j := begin(t, store)
			finish(t, store, j)
			if !bytes.Equal(readFile(t, path), whole) {
				t.Errorf("%s: the catalogue was changed", key)
			}
			if _, err := store.Delete(id); !errors.Is(err, record.ErrNewer) || !strings.Contains(err.Error(), "doctor --rebuild") {
				t.Errorf("%s: deleting: %v", key, err)
			}
			if err := store.Rebuild(nil); err != nil {
				t.Error(err)
			}
			if l, err := store.List(); err != nil || len(l.Tapes) != 1 || l.Tapes[0].Tape != j.Tape() {
				t.Errorf("%s: listed %+v, %v", key, l, err)
			}
		}
	})
	t.Run("facts", func(t *testing.T) {
		store := orphan(t, sealed)
		edit(t, file(store), func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte("tape"))
			info := bytes.Clone(b.Get([]byte("info")))
			info[0] = 9
			return b.Put([]byte("info"), info)
		})
		if _, err := open(t, store, id).Info(); !errors.Is(err, record.ErrNewer) {
			t.Errorf("facts: %v", err)
		}
	})
}

// changeLastHead changes members of the head of a tape's last block.
func changeLastHead(t *testing.T, path string, change map[string]any) {
	t.Helper()
	edit(t, path, func(tx *bolt.Tx) error {
		blocks := tx.Bucket([]byte("blocks"))
		k, _ := blocks.Cursor().Last()
		head := map[string]any{}
		if err := json.Unmarshal(blocks.Bucket(k).Get([]byte("head")), &head); err != nil {
			return err
		}
		maps.Copy(head, change)
		text, err := json.Marshal(head)
		if err != nil {
			return err
		}
		return blocks.Bucket(k).Put([]byte("head"), text)
	})
}

// addRecord appends a record to the journal that small returns, in the format described in
// package journal.
func addRecord(t *testing.T, store *record.Store, texts []string, kind byte, slot uint16, payload string) {
	t.Helper()
	path := segmentsOf(t, store)[0]
	b := readFile(t, path)
	magic := []byte{0xb5, 0x61, 0x74, 0x9d}
	end := bytes.LastIndex(b, magic)
	end += 32 + int(binary.LittleEndian.Uint32(b[end+4:]))
	offset := 0
	for _, text := range texts {
		offset += len(text) + 1
	}
	le := binary.LittleEndian
	r := le.AppendUint32(slices.Clone(magic), uint32(len(payload)))
	r = append(r, 0, kind) // from the client
	r = le.AppendUint16(r, slot)
	r = le.AppendUint64(r, uint64(time.Second))
	sums := le.AppendUint32(nil, castagnoli([]byte(payload)))
	sums = le.AppendUint32(sums, uint32(offset))
	r = le.AppendUint32(r, castagnoli(append(slices.Clone(r), sums...)))
	r = append(append(r, sums...), payload...)
	writeFile(t, path, append(b[:end], r...))
}

// addToHead puts a member into the head of each segment.
func addToHead(t *testing.T, store *record.Store, member string) {
	t.Helper()
	for _, path := range segmentsOf(t, store) {
		b := readFile(t, path)
		if len(b) < 16 || binary.LittleEndian.Uint32(b[8:]) == 0 {
			continue // opened ahead
		}
		size := binary.LittleEndian.Uint32(b[8:])
		head := append([]byte("{"+member+","), b[17:16+size]...)
		binary.LittleEndian.PutUint32(b[8:], uint32(len(head)))
		binary.LittleEndian.PutUint32(b[12:], castagnoli(head))
		copy(b[16:4096], head)
		writeFile(t, path, b)
	}
}

const needsTunnels = `needs "tunnels": written by a newer acptap; update acptap to read it`

// A journal with what only a newer acptap can read is refused by the name of that,
// and stays as it is.
func TestJournalNeeds(t *testing.T) {
	for _, tt := range []struct {
		name string
		add  func(t *testing.T, store *record.Store, texts []string)
	}{
		{"in the head", func(t *testing.T, store *record.Store, _ []string) {
			addToHead(t, store, `"needs":["rules","tunnels"],"later":{}`)
		}},
		{"in the head, of which all else is other", func(t *testing.T, store *record.Store, _ []string) {
			addToHead(t, store, `"needs":["tunnels"],"at":"half past"`)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store, tape, texts := small(t)
			tt.add(t, store, texts)
			whole := readFile(t, segmentsOf(t, store)[0])
			refused := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, record.ErrNewer) || !strings.Contains(fmt.Sprint(err), needsTunnels) {
					t.Errorf("%s: got %v, want that it %s", what, err, needsTunnels)
				}
			}
			var last error
			for _, err := range open(t, store, tape).Frames(1) {
				last = err
			}
			refused("reading", last)
			_, err := open(t, store, tape).Info()
			refused("facts", err)
			refused("sealing", store.Recover(func() bool { return false }, nil))
			if l, err := store.List(); err != nil || len(l.Broken) != 1 {
				t.Errorf("listing: %+v, %v", l, err)
			} else {
				refused("listing", l.Broken[0].Err)
			}
			told := false
			for _, d := range store.Examine(false, nil) {
				told = told || d.Bad && strings.Contains(d.What, "tunnels") && strings.Contains(d.Advice, "newer acptap")
			}
			if !told {
				t.Errorf("Examine does not tell: %+v", store.Examine(false, nil))
			}
			if !bytes.Equal(readFile(t, segmentsOf(t, store)[0]), whole) || len(segmentsOf(t, store)) == 0 {
				t.Error("the journal was changed")
			}
			if _, err := os.Stat(filepath.Join(store.Dir(), "tapes", tape+".db")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the tape was sealed: %v", err)
			}
		})
	}
}

// Records of unknown kinds, and unknown members of a head, are skipped.
func TestJournalUnknown(t *testing.T) {
	store, tape, texts := small(t)
	addRecord(t, store, texts, 200, 0, `{"later":{"frames":7}}`)
	addToHead(t, store, `"needs":["rules"],"later":[1,2]`)
	for _, when := range []string{"in the journal", "sealed"} {
		all := lines(t, open(t, store, tape))
		if len(all) != len(texts) {
			t.Errorf("%s: %d frames, want %d", when, len(all), len(texts))
		}
		sealAll(t, store)
	}
}

// The mark of a rule stands where it was noted, in all forms of a tape.
func TestRuleMark(t *testing.T) {
	recording := record.OpenStore(t.TempDir())
	j := begin(t, recording)
	say := func(text string) { j.Append(wire.AgentToClient, wire.Wire, []byte(text+"\n")) }
	say(`{"jsonrpc":"2.0","method":"first"}`)
	mark := wire.Marked{Rule: &wire.Rule{Name: "late", Did: "delay 2.134 s", Frames: 1}}
	j.Note(wire.AgentToClient, mark)
	say(`{"jsonrpc":"2.0","method":"second"}`)
	j.Note(wire.ClientToAgent, wire.Marked{Rule: &wire.Rule{Name: "all", Did: strings.Repeat("\x01", 1<<20)}})
	killed := orphan(t, recording)
	finish(t, recording, j)
	var text bytes.Buffer
	if err := open(t, recording, j.Tape()).Export(&text, false); err != nil {
		t.Fatal(err)
	}
	if head, _, _ := strings.Cut(text.String(), "\n"); !strings.HasPrefix(head, `{"acptap":1,"needs":["rules"],`) {
		t.Errorf("the portable form does not name what it needs: %s", head)
	}
	imported := record.OpenStore(t.TempDir())
	id, err := imported.Import(&text, "file", func(note string) { t.Error(note) })
	if err != nil {
		t.Fatal(err)
	}
	for name, tape := range map[string]*record.Tape{
		"in the journal": open(t, killed, j.Tape()), "sealed": open(t, recording, j.Tape()), "imported": open(t, imported, id),
	} {
		var got []dialect.Frame
		for f, err := range tape.Frames(1) {
			if err != nil {
				t.Fatal(err)
			}
			f.Raw = bytes.Clone(f.Raw)
			got = append(got, f)
		}
		if len(got) < 4 || got[1].Dir != wire.AgentToClient || !reflect.DeepEqual(wire.ReadMark(got[1].Frame), mark) || got[2].Method != "second" {
			t.Fatalf("%s: got %+v", name, got)
		}
		if long := wire.ReadMark(got[3].Frame).Rule; long == nil || long.Name != "all" || len(long.Did) > 65<<10 {
			t.Errorf("%s: got %.100s", name, got[3].Raw)
		}
		info, err := tape.Info()
		if err != nil || info.Rules != 2 || info.Frames != 2 || info.Lost != 0 {
			t.Errorf("%s: got %+v, %v", name, info, err)
		}
	}
}
