//go:build linux

package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// private returns a store that no other user can read.
func private(t *testing.T, store *record.Store) *record.Store {
	if err := os.Chmod(store.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	return store
}

// healthy returns a store with one tape that is sealed.
func healthy(t *testing.T) *record.Store {
	store := private(t, record.OpenStore(t.TempDir()))
	finish(t, store, begin(t, store))
	return store
}

// left returns a store as a proxy leaves it that is killed after what play does.
func left(t *testing.T, play func(j *record.Recorder)) *record.Store {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	defer finish(t, store, j)
	j.Append(wire.ClientToAgent, wire.Wire, []byte("{}\n"))
	play(j)
	return private(t, orphan(t, store))
}

func TestExamine(t *testing.T) {
	file := func(name, text string, mode os.FileMode) func(*testing.T) *record.Store {
		return func(t *testing.T) *record.Store {
			store := healthy(t)
			if err := os.WriteFile(filepath.Join(store.Dir(), name), []byte(text), mode); err != nil {
				t.Fatal(err)
			}
			return store
		}
	}
	for _, tt := range []struct {
		name  string
		store func(t *testing.T) *record.Store
		bad   bool
		want  string
	}{
		{"none", func(t *testing.T) *record.Store { return record.OpenStore(filepath.Join(t.TempDir(), "none")) }, false, "there is no store in "},
		{"healthy", healthy, false, "1 tape can be read"},
		{"open to others", file("notes", "", 0o644), true, "notes can be read by others"},
		{"leftover", func(t *testing.T) *record.Store {
			store := file("tapes/x.db.new-1", "", 0o600)(t)
			old := time.Now().Add(-2 * time.Hour)
			if err := os.Chtimes(filepath.Join(store.Dir(), "tapes/x.db.new-1"), old, old); err != nil {
				t.Fatal(err)
			}
			return store
		}, true, "was left by an acptap that was killed"},
		{"file that is being made", file("tapes/x.db.new-1", "", 0o600), false, ""},
		{"link", func(t *testing.T) *record.Store {
			store := healthy(t)
			if err := os.Symlink("/", filepath.Join(store.Dir(), "live", "link")); err != nil {
				t.Fatal(err)
			}
			return store
		}, true, "link is a symbolic link"},
		{"catalogue", file("acptap.db", "no database", 0o600), true, "catalogue: "},
		{"damaged", file("tapes/20260102T150405000-aaaaaa.db", "no database", 0o600), true, "tape 20260102T150405000-aaaaaa: "},
		{"live", func(t *testing.T) *record.Store {
			store := private(t, record.OpenStore(t.TempDir()))
			j := begin(t, store)
			t.Cleanup(func() { finish(t, store, j) })
			return store
		}, false, "being recorded now: 1 tape"},
		{"killed", func(t *testing.T) *record.Store { return left(t, func(*record.Recorder) {}) }, true, "1 tape cut off, such as 2"},
		{"empty", func(t *testing.T) *record.Store {
			store := record.OpenStore(t.TempDir())
			j := begin(t, store)
			defer finish(t, store, j)
			store = private(t, orphan(t, store))
			sealAll(t, store)
			return store
		}, false, " is empty: acptap proxy was killed before anything passed"},
		{"not in the catalogue yet", func(t *testing.T) *record.Store {
			store := healthy(t)
			j := begin(t, store)
			defer finish(t, store, j)
			j.Exit(0, nil, [wire.Directions]int64{})
			store = private(t, orphan(t, store))
			if err := store.Rebuild(nil); err != nil {
				t.Fatal(err)
			}
			return store
		}, false, "the catalogue has 1 tape; 1 is still in its journal"},
		{"ended before it was sealed", func(t *testing.T) *record.Store {
			return left(t, func(j *record.Recorder) { j.Exit(0, nil, [wire.Directions]int64{}) })
		}, false, "1 tape ended with "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := tt.store(t).Examine(true, nil)
			ok := false
			for _, d := range found {
				ok = ok || d.Bad == tt.bad && strings.Contains(d.What, tt.want)
				if d.Bad && (!tt.bad || d.Advice == "") && !strings.Contains(d.What, "on the disk") {
					t.Errorf("%+v", d)
				}
			}
			if !ok {
				t.Errorf("got %+v, want %q in it, bad: %t", found, tt.want, tt.bad)
			}
		})
	}
}
