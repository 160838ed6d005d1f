package note_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/boltfile"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/note"
)

func file(t testing.TB) note.File {
	return note.File{File: boltfile.File{Path: filepath.Join(t.TempDir(), "notes.db"), LockTimeout: 10 * time.Second}}
}

func edit(t testing.TB, f note.File, tape string, e note.Edit) note.List {
	t.Helper()
	l, err := f.Edit(tape, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Notes are read back in order, and only for their own tape.
func TestEdit(t *testing.T) {
	f := file(t)
	if l, err := f.Read("a"); err != nil || !l.IsEmpty() {
		t.Errorf("no file: got %+v, %v", l, err)
	}
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	edit(t, f, "b", note.Edit{Tag: []string{"other"}})
	edit(t, f, "a", note.Edit{Tag: []string{"slow", "bug-7"}, Add: []note.Note{{Frame: 12, Text: "here", At: at}, {Frame: 3}}})
	got := edit(t, f, "a", note.Edit{Tag: []string{"slow"}, Add: []note.Note{{ID: 99, Text: "as a whole", At: at}}})
	want := note.List{Tags: []string{"bug-7", "slow"}, Notes: []note.Note{{ID: 3, Text: "as a whole", At: at}, {ID: 2, Frame: 3}, {ID: 1, Frame: 12, Text: "here", At: at}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if again, err := f.Read("a"); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("read again: got %+v, %v, want %+v", again, err, want)
	}
	if on := got.On(12); len(on) != 1 || on[0].ID != 1 || len(got.On(4)) > 0 || len(got.On(0)) != 1 {
		t.Errorf("on frame 12: got %+v", on)
	}
	all, err := f.Summaries()
	if err != nil || len(all) != 2 || !slices.Equal(all["a"].Tags, want.Tags) || all["a"].Notes != 3 || all["b"].Notes != 0 {
		t.Errorf("summaries: got %+v, %v", all, err)
	}
	got = edit(t, f, "a", note.Edit{Untag: []string{"slow"}, Remove: []uint64{1, 2}})
	if want = (note.List{Tags: []string{"bug-7"}, Notes: want.Notes[:1]}); !reflect.DeepEqual(got, want) {
		t.Errorf("removed: got %+v, want %+v", got, want)
	}
}

// An edit of which a part cannot be made is not made at all.
func TestWrongEdit(t *testing.T) {
	f := file(t)
	var many note.Edit
	for i := range note.MaxTags {
		many.Tag = append(many.Tag, fmt.Sprint("tag", i))
	}
	before := edit(t, f, "a", many)
	gone := errors.New("gone")
	for name, tt := range map[string]struct {
		edit  note.Edit
		there error
		want  error
	}{
		"blank":            {note.Edit{Tag: []string{"two words"}}, nil, note.ErrInvalid},
		"comma":            {note.Edit{Tag: []string{"a,b"}}, nil, note.ErrInvalid},
		"flag":             {note.Edit{Tag: []string{"-n"}}, nil, note.ErrInvalid},
		"escape":           {note.Edit{Tag: []string{"\x1b[2J"}}, nil, note.ErrInvalid},
		"no tag":           {note.Edit{Tag: []string{""}}, nil, note.ErrInvalid},
		"long tag":         {note.Edit{Tag: []string{strings.Repeat("x", note.MaxTag+1)}}, nil, note.ErrInvalid},
		"one tag too many": {note.Edit{Add: []note.Note{{Frame: 1}}, Tag: []string{"more"}}, nil, note.ErrInvalid},
		"long note":        {note.Edit{Add: []note.Note{{Text: strings.Repeat("x", note.MaxText+1)}}}, nil, note.ErrInvalid},
		"no UTF-8":         {note.Edit{Add: []note.Note{{Text: "\xff"}}}, nil, note.ErrInvalid},
		"empty":            {note.Edit{Add: []note.Note{{}}}, nil, note.ErrInvalid},
		"no such tag":      {note.Edit{Add: []note.Note{{Frame: 1}}, Untag: []string{"tag"}}, nil, note.ErrNone},
		"no such note":     {note.Edit{Untag: []string{"tag0"}, Remove: []uint64{7}}, nil, note.ErrNone},
		"no tape":          {note.Edit{Add: []note.Note{{Frame: 1}}}, gone, gone},
	} {
		if _, err := f.Edit("a", tt.edit, func() error { return tt.there }); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
	if after, err := f.Read("a"); err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("got %+v, %v, want %+v", after, err, before)
	}
	edit(t, f, "a", note.Edit{Untag: []string{"tag0"}, Tag: []string{"more"}})
}

// Nothing of a removed note can be found in the file.
func TestRemoved(t *testing.T) {
	f := file(t)
	const secret = "the key lies under the mat"
	l := edit(t, f, "a", note.Edit{Tag: []string{"mat-tag"}, Add: []note.Note{{Text: secret}}})
	edit(t, f, "b", note.Edit{Add: []note.Note{{Text: secret}}})
	edit(t, f, "c", note.Edit{Tag: []string{"kept"}})
	edit(t, f, "a", note.Edit{Untag: l.Tags, Remove: []uint64{l.Notes[0].ID}})
	if err := f.Forget([]string{"b", "none"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte(secret)) || bytes.Contains(b, []byte("mat-tag")) {
		t.Error("what was removed is in the file")
	}
	if all, err := f.Summaries(); err != nil || len(all) != 1 || all["c"] == nil {
		t.Errorf("got %+v, %v", all, err)
	}
}

// put puts something into the file that no File puts there.
func put(t *testing.T, f note.File, bucket, key, value string) {
	t.Helper()
	err := f.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(bucket))
		if err != nil {
			return err
		}
		return b.Put([]byte(key), []byte(value))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Parts that only a newer acptap knows are skipped and kept; if they must be known, the file
// is refused.
func TestNewerFile(t *testing.T) {
	f := file(t)
	edit(t, f, "a", note.Edit{Tag: []string{"old"}})
	put(t, f, "notes", "a\x00tnew", `{"colour":"red"}`)
	put(t, f, "notes", "a\x00n\x00\x00\x00\x00\x00\x00\x00\x05", `{"text":"hello","colour":"red"}`)
	put(t, f, "notes", "a\x00xthing", `7`)
	put(t, f, "notes", "a\x00", ``)
	l := edit(t, f, "a", note.Edit{Tag: []string{"new"}, Add: []note.Note{{Frame: 1}}})
	if want := []note.Note{{ID: 5, Text: "hello"}, {ID: 6, Frame: 1}}; !slices.Equal(l.Tags, []string{"new", "old"}) || !slices.Equal(l.Notes, want) {
		t.Errorf("got %+v", l)
	}
	b, err := os.ReadFile(f.Path)
	if err != nil || bytes.Count(b, []byte(`"colour":"red"`)) < 2 || !bytes.Contains(b, []byte("a\x00xthing7")) {
		t.Errorf("what is not known was lost: %v", err)
	}
	for _, head := range []string{`{"format":2}`, `{"format":1,"needs":["threads"]}`} {
		put(t, f, "head", "head", head)
		if _, err := f.Read("a"); !errors.Is(err, disk.ErrNewer) {
			t.Errorf("reading with head %s: got %v, want ErrNewer", head, err)
		}
		if _, err := f.Edit("a", note.Edit{Tag: []string{"more"}}, nil); !errors.Is(err, disk.ErrNewer) {
			t.Errorf("writing with head %s: got %v, want ErrNewer", head, err)
		}
		if err := f.Mend(func(string) bool { return true }); !errors.Is(err, disk.ErrNewer) {
			t.Errorf("mending with head %s: got %v, want ErrNewer", head, err)
		}
	}
}

// A note that is damaged costs itself. A file that is damaged gives what can be read,
// and mending it keeps that.
func TestDamaged(t *testing.T) {
	f := file(t)
	edit(t, f, "a", note.Edit{Add: []note.Note{{Text: "whole"}}})
	put(t, f, "notes", "a\x00n\x00\x00\x00\x00\x00\x00\x00\x05", `{"text":`)
	if l, err := f.Read("a"); !errors.Is(err, disk.ErrDamaged) || len(l.Notes) != 1 || l.Notes[0].Text != "whole" {
		t.Errorf("got %+v, %v", l, err)
	}
	if _, err := f.Edit("a", note.Edit{Remove: []uint64{5}}, nil); err != nil {
		t.Errorf("removing it: %v", err)
	}
	if err := f.Mend(func(tape string) bool { return tape == "b" }); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(f.Path, bytes.Repeat([]byte("no database"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Edit("a", note.Edit{Tag: []string{"x"}}, nil); !errors.Is(err, disk.ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
	if err := f.Mend(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	edit(t, f, "a", note.Edit{Tag: []string{"x"}})
}
