package record_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/memtest"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// seeds are the test files of package portable: its own form, and those of other tools.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	paths, err := filepath.Glob("portable/testdata/*.json*")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no files: %v", err)
	}
	var all [][]byte
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

// A broken file leaves nothing in the store.
func TestImportBroken(t *testing.T) {
	for _, in := range []string{
		"{\"dir\":\"c2a\",\"frame\":{}}\n\nhello",
		`{"acptap":99}`,
		`{"version":1,"session":{"startedAt":1e12},"messages":[{"timestamp":1e12,"direction":"c2a","raw":"{}"},{}]}`,
	} {
		store := record.OpenStore(t.TempDir())
		if _, err := store.Import(strings.NewReader(in), "file", nil); err == nil {
			t.Errorf("%s: want an error", in)
		}
		if list, err := store.List(); err != nil || len(list.Tapes) > 0 {
			t.Errorf("%s: the store has %+v, %v", in, list, err)
		}
	}
}

// A mark of a load whose session cannot be one is kept, and counts for no session.
func TestImportLoadOfNoSession(t *testing.T) {
	for _, id := range []string{"", strings.Repeat("s", 1<<16)} {
		store := record.OpenStore(t.TempDir())
		in := `{"dir":"c2a","frame":{}}` + "\n" + `{"dir":"a2c","load":{"session":"` + id + `","missing":1,"recorded":2}}` + "\n"
		if _, err := store.Import(strings.NewReader(in), "file", nil); err != nil {
			t.Errorf("session of %d bytes: %v", len(id), err)
		}
		if list, err := store.List(); err != nil || len(list.Tapes) != 1 || list.Tapes[0].Lines != 2 || len(list.Sessions) > 0 {
			t.Errorf("session of %d bytes: the store has %+v, %v", len(id), list, err)
		}
	}
}

// Another tool's file becomes a tape like any other: with sessions, and with the
// same frames when it comes back from the store.
func TestImportForeign(t *testing.T) {
	in := `{"ts":1706000000,"dir":"c2a","msg":{"id":1,"method":"initialize","params":{"protocolVersion":1}}}
{"ts":1706000001,"dir":"a2c","msg":{"id":1,"result":{"protocolVersion":1}}}
{"ts":1706000002,"dir":"c2a","msg":{"id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"ts":1706000003,"dir":"a2c","msg":{"id":2,"result":{"sessionId":"s1"}}}
`
	store := record.OpenStore(t.TempDir())
	id, err := store.Import(strings.NewReader(in), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	tape, err := store.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := tape.Sessions()
	if err != nil || len(sessions) != 1 || sessions[0].ID != "s1" || sessions[0].Cwd != "/w" {
		t.Errorf("got sessions %+v, %v, want s1 in /w", sessions, err)
	}
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Ended, time.Unix(1706000003, 0); !got.Equal(want) {
		t.Errorf("ended at %v, want %v", got, want)
	}
	f, err := tape.Frame(4)
	if err != nil || f.Kind != wire.Response || f.Request != 3 {
		t.Errorf("got frame %+v, %v, want the response to frame 3", f, err)
	}
}

// FuzzImport puts any file into a store: all of it is there then, as it can be read
// without one, or nothing.
func FuzzImport(f *testing.F) {
	for _, file := range seeds(f) {
		f.Add(file)
	}
	for _, id := range []string{"20260102T150405000-aaaaaa", "20260102T150405000-../../x", "last", "99990102T150405000-aaaaaa"} {
		f.Add([]byte(`{"acptap":1,"tape":"` + id + `","started":"2026-01-02T15:04:05Z"}` + "\n" + `{"seq":9,"at":1,"dir":"c2a","frame":{"id":1,"method":"m"}}`))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		memtest.Bound(t, func() {
			store := record.OpenStore(t.TempDir())
			id, err := store.Import(bytes.NewReader(file), "file", func(string) {})
			l, failed := store.List()
			if failed != nil || len(l.Broken) > 0 || (err == nil) != (len(l.Tapes) == 1) {
				t.Fatalf("after %v it lists %d tapes, broken %v: %v", err, len(l.Tapes), l.Broken, failed)
			}
			if err != nil {
				return
			}
			imported, err := store.Open(id)
			tape, failed := record.ReadPortable(bytes.NewReader(file), "file")
			if err = errors.Join(err, failed); err != nil || l.Tapes[0].Tape != id {
				t.Fatalf("%s is in the store as %s: %v", id, l.Tapes[0].Tape, err)
			}
			if got, want := shown(t, imported), shown(t, tape); !slices.Equal(got, want) {
				t.Errorf("imported it is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	})
}

// The parent of a server's tape, and its transport, are kept in all forms.
func TestParent(t *testing.T) {
	const header = `{"acptap":1,"tape":"20250102T030405000-aaaaaa","started":"2025-01-02T03:04:05Z","command":["server"],"cwd":"/w",` +
		`"parent":{"tape":"20250102T030404000-bbbbbb","link":"kdjfhgas","server":"every/thing"},"transport":"http","upstream":"https://example.org/mcp"}`
	want := record.Start{
		Parent:    record.Parent{Tape: "20250102T030404000-bbbbbb", Link: "kdjfhgas", Server: "every/thing"},
		Transport: "http", Upstream: "https://example.org/mcp",
	}
	line := `{"seq":1,"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"ping"}}`
	store := record.OpenStore(t.TempDir())
	id, err := store.Import(strings.NewReader(header+"\n"+line+"\n"), "file", func(note string) { t.Error(note) })
	if err != nil {
		t.Fatal(err)
	}
	l, err := store.List()
	if err != nil || len(l.Tapes) != 1 {
		t.Fatal(l, err)
	}
	tape, err := store.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]record.Start{"the catalogue": l.Tapes[0].Start, "the tape": info.Start} {
		claimed := want.Parent
		claimed.Claimed = true // it is not here
		if got.Parent != claimed || got.Transport != want.Transport || got.Upstream != want.Upstream {
			t.Errorf("%s: got %+v", what, got)
		}
	}
	var b strings.Builder
	if err := tape.Export(&b, false); err != nil || b.String() != header+"\n"+line+"\n" {
		t.Errorf("got\n%s, want\n%s\n%s", b.String(), header, line)
	}

	j := recordtest.Record(t, store, record.Start{Command: []string{"server"}, Parent: want.Parent, Transport: "ws", Upstream: want.Upstream})
	if tape, err = store.Open(j.Tape()); err != nil {
		t.Fatal(err)
	}
	if info, err = tape.Info(); err != nil || info.Start.Parent != want.Parent || info.Start.Transport != "ws" || info.Start.Upstream != want.Upstream {
		t.Errorf("recorded: got %+v, %v", info.Start, err)
	}

	var notes []string
	odd := strings.Replace(header, want.Parent.Tape, "../../victim", 1)
	id, err = store.Import(strings.NewReader(odd+"\n"+line+"\n"), "file", func(note string) { notes = append(notes, note) })
	if err != nil {
		t.Fatal(err)
	}
	if tape, err = store.Open(id); err != nil {
		t.Fatal(err)
	}
	if info, err = tape.Info(); err != nil || info.Start.Parent != (record.Parent{}) || len(notes) != 1 || !strings.Contains(notes[0], "parent is left out") {
		t.Errorf("an odd parent: got %+v, %v, %q", info.Start, err, notes)
	}
}
