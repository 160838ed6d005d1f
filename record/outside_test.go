//go:build linux

package record_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record"
)

// victims are ids that lead from a store to files next to it. Each is as long as the id of a
// tape that it replaces.
var victims = [...]string{"../.././victim/precious_x", "../../victim/././precious", "../live/../../victim/prec"}

// besideVictims returns a copy of a store, with files next to it that the ids of victims lead
// to, and a function that fails the test if one of them has changed.
func besideVictims(t *testing.T, store *record.Store) (copied *record.Store, check func(what string)) {
	t.Helper()
	dir := t.TempDir()
	copied = record.OpenStore(filepath.Join(dir, "store"))
	if err := os.CopyFS(copied.Dir(), os.DirFS(store.Dir())); err != nil {
		t.Fatal(err)
	}
	for _, id := range victims {
		for _, ending := range []string{".db", ".lock", ".0000000000000000"} {
			path := filepath.Join(dir, "victim", filepath.Base(id)+ending)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, []byte("precious"))
		}
	}
	before := listTree(t, dir)
	return copied, func(what string) {
		t.Helper()
		if now := listTree(t, dir); now != before {
			t.Fatalf("%s changed what is outside of the store:\ngot %s\nwant %s", what, now, before)
		}
	}
}

// listTree returns the files below dir that are in no store, with their contents.
func listTree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "store" {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			b.WriteString(path + ": " + string(readFile(t, path)) + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rewrite puts new in place of old everywhere in the values of a bbolt file, and
// in its keys if keys is set.
func rewrite(t *testing.T, path, old, new string, keys bool) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var in func(b *bolt.Bucket) error
	in = func(b *bolt.Bucket) error {
		var all [][2][]byte
		err := b.ForEach(func(k, v []byte) error {
			if v == nil {
				return in(b.Bucket(k))
			}
			all = append(all, [2][]byte{bytes.Clone(k), bytes.Clone(v)})
			return nil
		})
		for _, kv := range all {
			k := kv[0]
			if keys {
				err = errors.Join(err, b.Delete(k))
				k = bytes.ReplaceAll(k, []byte(old), []byte(new))
			}
			err = errors.Join(err, b.Put(k, bytes.ReplaceAll(kv[1], []byte(old), []byte(new))))
		}
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return in(b) })
	})
	if err != nil {
		t.Fatal(err)
	}
}

// deleteListed deletes all that a store lists, by all ids that it tells.
func deleteListed(t *testing.T, store *record.Store) {
	t.Helper()
	l, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, info := range l.Tapes {
		ids = append(ids, info.Tape)
	}
	for _, s := range append(l.Sessions, l.Deleted...) {
		for _, run := range s.Runs {
			ids = append(ids, run.Tape)
		}
	}
	for _, id := range ids {
		store.Sizes(id)
		store.Delete(id)
	}
}

// A tape is what its file is called, whatever it says, and whatever the catalogue
// says.
func TestIDsLeadNowhere(t *testing.T) {
	whole, id, path, _ := sealedTape(t, 300)
	inTape := filepath.Join("tapes", filepath.Base(path))
	for _, victim := range victims {
		for _, tt := range []struct {
			name, file string
			keys       bool
			damaged    bool // the tape cannot be read
		}{
			{"in the tape", inTape, false, true},
			{"in values of the catalogue", "acptap.db", false, false},
			{"in keys of the catalogue too", "acptap.db", true, false},
		} {
			store, check := besideVictims(t, whole)
			rewrite(t, filepath.Join(store.Dir(), tt.file), id, victim, tt.keys)
			if tt.damaged {
				os.Remove(filepath.Join(store.Dir(), "acptap.db"))
				if _, err := open(t, store, id).Info(); !errors.Is(err, record.ErrDamaged) {
					t.Errorf("%s %s: got %v, want that it is damaged", victim, tt.name, err)
				}
				if _, err := record.OpenFile(filepath.Join(store.Dir(), tt.file)); !errors.Is(err, record.ErrDamaged) {
					t.Errorf("%s %s: as a file: got %v, want that it is damaged", victim, tt.name, err)
				}
			} else if l, err := store.List(); err != nil || len(l.Tapes) != 1 || l.Tapes[0].Tape != id {
				t.Errorf("%s %s: got %v, %v; want the tape %s", victim, tt.name, l.Tapes, err, id)
			}
			store.Examine(true, nil)
			check("Examine")
			deleteListed(t, store)
			check("Delete of what is listed " + victim + " " + tt.name)
			store.Recover(func() bool { return false }, nil)
			check("Recover")
			store.Rebuild(nil)
			deleteListed(t, store)
			check("Rebuild")
			if _, err := store.Delete(id); err != nil && !errors.Is(err, record.ErrNoTape) {
				t.Errorf("%s %s: %v", victim, tt.name, err)
			}
			check("Delete")
		}
	}
}

// Ids given by users, and the names of files in a store, lead nowhere either.
func TestOddIDs(t *testing.T) {
	whole, id, path, _ := sealedTape(t, 10)
	store, check := besideVictims(t, whole)
	for _, name := range []string{"--dry-run.db", "\x1b[2J12345678.db", "...........db", ".db"} {
		writeFile(t, filepath.Join(store.Dir(), "tapes", name), readFile(t, path))
		writeFile(t, filepath.Join(store.Dir(), "live", strings.TrimSuffix(name, ".db")+".lock"), nil)
	}
	deleteListed(t, store)
	store.Recover(func() bool { return false }, nil)
	check("odd names of files")

	store, check = besideVictims(t, whole)
	parts := [...]string{"..", ".", "/", "/", "\\", "victim", "precious_x", "precious", ".db", "tapes", "live", "\x00", "-", "last", "~", ":", "é", "20260102T150405000", id}
	rng := rand.New(rand.NewPCG(1, 2))
	for range less(20_000) {
		var odd strings.Builder
		for range rng.IntN(10) {
			odd.WriteString(parts[rng.IntN(len(parts))])
		}
		if odd.String() == id {
			continue
		}
		if _, err := store.Delete(odd.String()); !errors.Is(err, record.ErrNoTape) {
			t.Fatalf("deleting %q: got %v, want that there is no such tape", odd.String(), err)
		}
		if _, err := store.Open(odd.String()); !errors.Is(err, record.ErrNoTape) {
			t.Fatalf("opening %q: got %v, want that there is no such tape", odd.String(), err)
		}
		store.Sizes(odd.String())
	}
	check("odd ids")
	if _, err := store.Open(id); err != nil {
		t.Errorf("the tape itself: %v", err)
	}
}
