package screen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/note"
)

// importedFrom has a store with one tape of testdata.
func importedFrom(t *testing.T, file string) (store *record.Store, tape string) {
	t.Helper()
	f, err := os.Open(filepath.Join(tapeDir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	store = record.OpenStore(t.TempDir())
	tape, err = store.Import(f, file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return store, tape
}

// TestNoteScreens shows notes and tags: in the store, next to the frames and in the
// conversation.
func TestNoteScreens(t *testing.T) {
	store, tape := importedFrom(t, "acp-go-sdk.jsonl")
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	_, err := store.Annotate(tape, note.Edit{Tag: []string{"slow", "v2"}, Add: []note.Note{
		{Text: "The first run after the update.", At: at},
		{Frame: 6, Text: "Why does it say so before it has read anything?\nAsk upstream.", At: at},
		{Frame: 9, At: at},
		{Frame: 15, Text: "Not true: \x1b[31mit has not", At: at},
	}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, keys string }{
		{"notes-store", ""},
		{"notes-frames", "<Enter>2«of 15»«2 notes»'«Ask upstream»"},
		{"notes-chat", "<Enter>2«of 15»«2 notes»3«Ask upstream»"},
	}
	for _, tt := range tests {
		atSizes(t, tt.name, sizes, func(t *testing.T, name string, s size) {
			term := start(t, screen.Inspector{Store: store}, screen.Subject{}, s.width, s.height)
			term.wait(t, "the tapes", has("#slow #v2"))
			term.press(t, tt.keys)
			term.golden(t, name)
		})
	}
}

// written waits until the store has the wanted notes on a tape.
func written(t *testing.T, store *record.Store, tape string, ok func(note.List) bool) note.List {
	t.Helper()
	for late := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		l, err := store.Notes(tape)
		if err != nil {
			t.Fatal(err)
		}
		if ok(l) {
			return l
		}
		if time.Now().After(late) {
			t.Fatalf("got %+v", l)
		}
	}
}

// TestBookmarks: several frames are bookmarked in the store, keys go from one to the
// next, and D compares with the last one.
func TestBookmarks(t *testing.T) {
	t.Parallel()
	store, tape := importedFrom(t, "acp-go-sdk.jsonl")
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "", tape), 120, 40)
	term.reads(t)
	term.press(t, "z'«no bookmark or note further down»D«bookmark another frame with m first»")
	term.press(t, ":12<Enter>«frame 12 ·»m«1 bookmark (')»:3<Enter>«frame 3 ·»m«2 bookmarks (')»")
	l := written(t, store, tape, func(l note.List) bool { return len(l.Notes) == 2 })
	if l.Notes[0].Frame != 3 || l.Notes[1].Frame != 12 || l.Notes[0].Text+l.Notes[1].Text != "" {
		t.Errorf("got %+v", l.Notes)
	}
	term.press(t, "'«frame 12 ·»'«no bookmark or note further down»\"«frame 3 ·»\"«no bookmark or note further up»")
	term.press(t, ":9<Enter>«frame 9 ·»D«frame 3 against frame 9»<Esc><Esc>:3<Enter>«frame 3 ·»D«frame 3 against frame 12»<Esc><Esc>")
	term.press(t, "m«1 bookmark (')»D«frame 3 against frame 12»")
	written(t, store, tape, func(l note.List) bool { return len(l.Notes) == 1 && l.Notes[0].Frame == 12 })
}

// TestNotes: a note is written, changed and taken away, here and by others.
func TestNotes(t *testing.T) {
	t.Parallel()
	store, tape := importedFrom(t, "acp-go-sdk.jsonl")
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "", tape), 120, 40)
	term.reads(t)
	term.press(t, ":9<Enter>«frame 9 ·»a«note on frame 9:»odd<Enter>«✎ odd»«1 note (')»3«✎ frame 9: odd»2a")
	term.press(t, "<^U>even<Enter>«✎ even»«1 note (')»a<^U><Enter>")
	term.wait(t, "no note", func(s string) bool { return !strings.Contains(s, "✎") && !strings.Contains(s, "1 note") })
	if _, err := store.Annotate(tape, note.Edit{Add: []note.Note{{Frame: 9, Text: "one\ntwo"}}}); err != nil {
		t.Fatal(err)
	}
	term.press(t, "«✎ one»a«this note has several lines; acptap note changes it»")
	term.press(t, ":3<Enter>«frame 3 ·»a«note on frame 3»"+strings.Repeat("x", 10)+"<Esc>")
	if l, err := store.Notes(tape); err != nil || len(l.Notes) != 1 {
		t.Errorf("got %+v, %v, want what was there before Esc", l, err)
	}
}

// TestTags: tags and notes on a tape are changed in the store.
func TestTags(t *testing.T) {
	t.Parallel()
	store, tape := importedFrom(t, "acp-go-sdk.jsonl")
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 160, 24)
	term.wait(t, "the tape", has("Hello, agent!"))
	term.press(t, "Tslow, v2<Enter>«#slow #v2»T")
	term.press(t, "<^U>-v3<Enter>")
	term.wait(t, "what is wrong", has("hyphen"))
	term.press(t, "<^U>v2 v3<Enter>«#v2 #v3»athe first run<Enter>«✎ the first run»")
	l := written(t, store, tape, func(l note.List) bool { return len(l.Notes) == 1 })
	if strings.Join(l.Tags, " ") != "v2 v3" || l.Notes[0].Text != "the first run" || l.Notes[0].Frame != 0 {
		t.Errorf("got %+v", l)
	}
	term.press(t, "a<^U><Enter>T<^U><Enter>")
	term.wait(t, "nothing written", func(s string) bool { return !strings.Contains(s, "✎") && !strings.Contains(s, "#v2") })
}

// TestBookmarksInFile: in a file bookmarks last as long as the inspector, and it says so.
func TestBookmarksInFile(t *testing.T) {
	t.Parallel()
	store, tape := importedFrom(t, "acp-go-sdk.jsonl")
	term := start(t, screen.Inspector{}, screen.TapesOf(store, "", tape), 120, 40)
	term.reads(t)
	term.press(t, ":9<Enter>«frame 9 ·»m«this is a file: bookmarks and notes are forgotten when the inspector ends»j«1 bookmark»")
	term.press(t, "aodd<Enter>«this is a file»k«1 bookmark, 1 note»m")
	term.wait(t, "the note alone", func(s string) bool { return strings.Contains(s, " · 1 note") })
	if l, err := store.Notes(tape); err != nil || !l.IsEmpty() {
		t.Errorf("got %+v, %v, want nothing in the store", l, err)
	}
}
