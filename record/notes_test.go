//go:build linux

package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/note"
)

// annotate writes on a tape.
func annotate(t testing.TB, store *record.Store, tape string, e note.Edit) note.List {
	t.Helper()
	l, err := store.Annotate(tape, e)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// assertNotes fails unless that is written on the tape, and listed.
func assertNotes(t testing.TB, when string, store *record.Store, tape string, want note.List) {
	t.Helper()
	got, err := open(t, store, tape).Notes()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, %v, want %+v", when, got, err, want)
	}
	l, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range l.Tapes {
		if i.Tape == tape && (!slices.Equal(i.Tags, want.Tags) || i.Notes != len(want.Notes)) {
			t.Errorf("%s: listed with %q and %d notes, want %q and %d", when, i.Tags, i.Notes, want.Tags, len(want.Notes))
		}
	}
}

// Notes can be added to a tape while it is recorded, even before it has a file, and are kept
// whatever happens to the tape.
func TestNotesStay(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	j.Append(wire.ClientToAgent, wire.Wire, []byte("{}\n{}\n"))
	if _, err := store.Annotate(j.Tape(), note.Edit{Add: []note.Note{{Frame: 3, Text: "not yet"}}}); err == nil {
		t.Error("a note on a frame that is not there")
	}
	want := annotate(t, store, j.Tape(), note.Edit{Tag: []string{"flaky"}, Add: []note.Note{{Frame: 2, Text: "here"}, {Text: "all of it"}}})
	if len(want.Notes) != 2 || want.Notes[1].Frame != 2 || want.Notes[1].At.IsZero() {
		t.Errorf("got %+v", want)
	}
	assertNotes(t, "live", store, j.Tape(), want)

	killed := orphan(t, store)
	writeFile(t, filepath.Join(killed.Dir(), "notes.db"), readFile(t, filepath.Join(store.Dir(), "notes.db")))
	assertNotes(t, "killed", killed, j.Tape(), want)
	sealAll(t, killed)
	assertNotes(t, "recovered", killed, j.Tape(), want)
	if err := killed.Rebuild(nil); err != nil {
		t.Fatal(err)
	}
	assertNotes(t, "rebuilt", killed, j.Tape(), want)

	finish(t, store, j)
	assertNotes(t, "ended", store, j.Tape(), want)
	want = annotate(t, store, j.Tape(), note.Edit{Untag: []string{"flaky"}, Remove: []uint64{1}})
	assertNotes(t, "edited", store, j.Tape(), want)
}

// Notes go with their tape, and are not found again.
func TestNotesOfDeleted(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	var tapes []string
	for range 2 {
		j := begin(t, store)
		finish(t, store, j)
		tapes = append(tapes, j.Tape())
		annotate(t, store, j.Tape(), note.Edit{Add: []note.Note{{Text: "secret of " + j.Tape()}}})
	}
	if _, err := store.Delete(tapes[0]); err != nil {
		t.Fatal(err)
	}
	b := readFile(t, filepath.Join(store.Dir(), "notes.db"))
	if bytes.Contains(b, []byte("secret of "+tapes[0])) || !bytes.Contains(b, []byte("secret of "+tapes[1])) {
		t.Error("the notes are not those of the tape that is left")
	}
	if _, err := store.Annotate(tapes[0], note.Edit{Tag: []string{"x"}}); !errors.Is(err, record.ErrNoTape) {
		t.Errorf("got %v, want ErrNoTape", err)
	}
	if _, err := store.Notes("../x"); !errors.Is(err, record.ErrNoTape) {
		t.Errorf("got %v, want ErrNoTape", err)
	}
	// A user deletes a tape's file by hand, without its notes.
	if err := os.Remove(filepath.Join(store.Dir(), "tapes", tapes[1]+".db")); err != nil {
		t.Fatal(err)
	}
	if got := examined(store); !strings.Contains(got, "there are notes on 1 tape that are gone") {
		t.Errorf("got %s", got)
	}
	if err := store.Rebuild(nil); err != nil {
		t.Fatal(err)
	}
	if got := examined(store); strings.Contains(got, "notes") {
		t.Errorf("rebuilt: got %s", got)
	}
}

// examined returns the problems in a store.
func examined(store *record.Store) string {
	var bad []string
	for _, d := range store.Examine(false, nil) {
		if d.Bad {
			bad = append(bad, d.What)
		}
	}
	return strings.Join(bad, "\n")
}

// A file of notes that is damaged costs the notes and nothing else.
func TestDamagedNotes(t *testing.T) {
	for _, times := range []int{1, 1000} {
		t.Run(strconv.Itoa(times), func(t *testing.T) { testDamagedNotes(t, times) })
	}
}

func testDamagedNotes(t *testing.T, times int) {
	store := healthy(t)
	ids, err := store.Tapes()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(store.Dir(), "notes.db"), bytes.Repeat([]byte("no database"), times))
	if l, err := store.List(); err != nil || len(l.Tapes) != 1 || !errors.Is(l.NotesErr, record.ErrDamaged) {
		t.Errorf("got %+v, %v", l, err)
	}
	if _, err := store.Notes(ids[0]); !errors.Is(err, record.ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
	if got := examined(store); !strings.Contains(got, "notes: ") {
		t.Errorf("got %s", got)
	}
	if err := store.Rebuild(nil); err != nil {
		t.Fatal(err)
	}
	annotate(t, store, ids[0], note.Edit{Tag: []string{"again"}})
}

// annotateRole adds notes to a tape until it is killed, and prints each that is there.
func annotateRole(args []string) error {
	for i := 0; ; i++ {
		text := fmt.Sprintf("%s-%d", args[2], i)
		if _, err := record.OpenStore(args[0]).Annotate(args[1], note.Edit{Add: []note.Note{{Text: text}}}); err != nil {
			return err
		}
		fmt.Println(text)
	}
}

// Of several processes that write at once, each of which is killed in the middle, no
// note is lost that one of them knows to be there.
func TestNotesOfKilled(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	defer finish(t, store, j)
	var mu sync.Mutex
	told := map[string]bool{}
	var writers sync.WaitGroup
	for w := range 3 {
		p := play(t, "annotate", store.Dir(), j.Tape(), fmt.Sprint("writer", w))
		writers.Go(func() {
			for n := 0; p.lines.Scan(); n++ {
				mu.Lock()
				told[p.lines.Text()] = true
				mu.Unlock()
				if n == 5+w {
					p.Process.Kill()
				}
			}
		})
	}
	writers.Wait()
	l, err := store.Notes(j.Tape())
	if err != nil {
		t.Fatal(err)
	}
	ids := map[uint64]bool{}
	for _, n := range l.Notes {
		delete(told, n.Text)
		ids[n.ID] = true
	}
	if len(told) > 0 || len(ids) != len(l.Notes) || len(ids) < 3*6 {
		t.Errorf("got %+v, want %v too", l.Notes, told)
	}
}

// A watcher of a store is notified of notes that others write.
func TestWatchNotes(t *testing.T) {
	store := healthy(t)
	ids, err := store.Tapes()
	if err != nil {
		t.Fatal(err)
	}
	w := watch(t, store, nil)
	w.looked()
	annotate(t, store, ids[0], note.Edit{Tag: []string{"x"}})
	w.kind(record.NotesChanged, "")
	annotate(t, store, ids[0], note.Edit{Untag: []string{"x"}})
	w.kind(record.NotesChanged, "")
}

// The notes on a tape are in its portable form, and on the tape imported from that. Secrets
// are not.
func TestNotesInPortableForm(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := begin(t, store)
	j.Append(wire.ClientToAgent, wire.Wire, []byte(`{"jsonrpc":"2.0","method":"x"}`+"\n"))
	j.Append(wire.AgentStderr, wire.Wire, []byte("odd\x1b[2J\n"))
	finish(t, store, j)
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	want := annotate(t, store, j.Tape(), note.Edit{Tag: []string{"b", "a"}, Add: []note.Note{
		{Text: "why does it take " + token, At: at}, {Frame: 1, At: at}, {Frame: 1, Text: "<b> \u202e", At: at}, {Frame: 2, Text: "two\nlines", At: at},
	}})
	text := exported(t, open(t, store, j.Tape()), true)
	for _, member := range []string{
		`"tags":["a","b"],"notes":[{"text":"why does`,
		`"dir":"c2a","notes":[{"at":"2026-01-02T15:04:05Z"},{"text":"\u003cb\u003e \u202e","at":"2026-01-02T15:04:05Z"}],"frame":{`,
		`"dir":"err","notes":[{"text":"two\nlines",`,
	} {
		if !strings.Contains(text, member) {
			t.Errorf("got\n%s, want in it\n%s", text, member)
		}
	}
	if redacted := exported(t, open(t, store, j.Tape()), false); strings.Contains(redacted, token) || !strings.Contains(redacted, "why does it take ghp_[redacted]") {
		t.Errorf("got\n%s", redacted)
	}
	file, err := record.ReadPortable(strings.NewReader(text), "file")
	if err != nil {
		t.Fatal(err)
	}
	other := record.OpenStore(t.TempDir())
	id, err := other.Import(strings.NewReader(text), "file", func(text string) { t.Error(text) })
	if err != nil {
		t.Fatal(err)
	}
	for what, tape := range map[string]*record.Tape{"file": file, "import": open(t, other, id)} {
		if got, err := tape.Notes(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", what, got, err, want)
		}
	}
}

// Notes in a file that cannot be kept are left out, and reported once.
func TestWrongNotesInFile(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"acptap":1,"tags":["ok","two words","ok"],"notes":[{"text":""},{"text":"x"}]}` + "\n")
	for range note.MaxNotes + 5 {
		b.WriteString(`{"dir":"c2a","notes":[{"id":7,"frame":3}],"frame":{"jsonrpc":"2.0","method":"x"}}` + "\n")
	}
	store := record.OpenStore(t.TempDir())
	var told []string
	id, err := store.Import(strings.NewReader(b.String()), "file", func(text string) { told = append(told, text) })
	if err != nil {
		t.Fatal(err)
	}
	got, err := store.Notes(id)
	if err != nil || !slices.Equal(got.Tags, []string{"ok"}) || len(got.Notes) != note.MaxNotes || got.Notes[1].Frame != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	want := []string{"two words", "without a text", "notes at most"}
	for i, text := range told {
		if i >= len(want) || !strings.Contains(text, want[i]) {
			t.Errorf("told %q, want %q", told, want)
			break
		}
	}
	if _, err := store.Import(strings.NewReader(`{"dir":"c2a","notes":7,"frame":{}}`), "file", nil); err == nil || !strings.Contains(err.Error(), `"notes" is no list`) {
		t.Errorf("got %v", err)
	}
}
