package screen_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/record"
)

// onTwoTapes makes a store with a session on two tapes, and returns their ids.
func onTwoTapes(tb testing.TB) (store *record.Store, ids []string) {
	tb.Helper()
	store = record.OpenStore(tb.TempDir())
	for _, day := range []string{"monday", "tuesday"} {
		text, err := os.ReadFile(filepath.Join("testdata", "session-on-two-tapes", day+".jsonl"))
		if err != nil {
			tb.Fatal(err)
		}
		id, err := store.Import(bytes.NewReader(text), "tape", nil)
		if err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, id)
	}
	return store, ids
}

// TestSearchPlace searches all tapes from the list of frames, opens a result and goes back.
func TestSearchPlace(t *testing.T) {
	store, ids := onTwoTapes(t)
	term := start(t, screen.Inspector{Store: store, Now: now}, screen.TapesOf(store, "", ids[0]), 100, 24)
	term.reads(t)
	term.press(t, "sread_text_file<Enter>")
	term.wait(t, "what is found", func(s string) bool {
		return strings.Contains(s, ids[0]+"  2026-11-20 10:00 agent") && strings.Contains(s, "/w/a") && strings.Contains(s, " s search")
	})
	term.press(t, "s«search all tapes: read_text_file»"+strings.Repeat("<Backspace>", 14)+"kind:response<Enter>")
	term.wait(t, "the tapes, the newest first", func(s string) bool {
		monday, tuesday := strings.Index(s, ids[0]), strings.Index(s, ids[1])
		return 0 < tuesday && tuesday < monday && strings.Contains(s, "out of tokens") && strings.Contains(s, "3.50 s")
	})
	term.press(t, "jj<Enter>")
	term.wait(t, "the frame on its tape", func(s string) bool {
		return strings.Contains(s, "5 of 5") && strings.Contains(s, "frame 5 · response session/prompt")
	})
	term.press(t, "<Esc>")
	term.wait(t, "what is found", has(ids[0]+"  2026-11-20"))
	term.press(t, "<Esc>")
	term.wait(t, "the store: another tape was open when the search began", has("Tape or session"))
	term.press(t, "2«frame 5 · response session/prompt»s<^U>nowhere<Enter>«Nothing was found»s<Esc><Esc>«frame 5 · response session/prompt»")
}

// TestSearchScreens shows the results of a search in a store.
func TestSearchScreens(t *testing.T) {
	store := storeOf(t, "acp-go-sdk.jsonl", "acp-npm-sdk.jsonl", "acp-go-sdk-rejected.jsonl")
	if err := os.Remove(filepath.Join(store.Dir(), "tapes", "20261121T110000-damage.db")); err != nil {
		t.Fatal(err) // it is another one in each run
	}
	atSizes(t, "search", sizes, func(t *testing.T, name string, s size) {
		term := start(t, screen.Inspector{Store: store}, screen.Subject{}, s.width, s.height)
		term.wait(t, "the tapes", has("Hello, agent!"))
		term.press(t, "smethod:session/request_permission<Enter>")
		term.golden(t, name)
	})
}

// TestSearchDeleted goes back from the results after the tape from which the search began has
// been deleted.
func TestSearchDeleted(t *testing.T) {
	store, ids := onTwoTapes(t)
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 120, 24)
	term.press(t, "«"+ids[1]+"»<Enter>2«5 of 5»sread_text_file<Enter>")
	term.wait(t, "the end of the search", func(s string) bool { return strings.Contains(s, "/w/a") && !strings.Contains(s, "Esc ends it") })
	term.press(t, "1«^X delete»<^X>yes<Enter>")
	term.wait(t, "that it is deleted, and nothing is open", func(s string) bool {
		return strings.Contains(s, ids[0]) && !strings.Contains(s, "imported     "+ids[1]) && !strings.Contains(s, "Esc back")
	})
	tab := term.text()
	tab, _, _ = strings.Cut(tab, " s search")
	term.click(len(tab)+1, 0)
	term.press(t, "«/w/a»<Esc>«"+ids[0]+"»«s search all   m mark   o sort   ^X delete   ? keys»")
}

// TestSession shows a session that is on two tapes.
func TestSession(t *testing.T) {
	store, ids := onTwoTapes(t)
	term := start(t, screen.Inspector{}, screen.TapesOf(store, "s1", ids...), 120, 40)
	term.reads(t)
	term.golden(t, "session-120x40")
	term.press(t, ":2.5<Enter>")
	term.wait(t, "a frame of the second tape", has("frame 2.5 · response session/prompt · answers 2.3 after 3.50 s"))
	term.press(t, "%")
	term.wait(t, "its request", has("frame 2.3 · request"))
	term.press(t, ":17<Enter>«there is no frame 2.17»<Esc>w«write the frame to: frame-2.3.json»<Esc>")
	term.press(t, ":4<Enter>")
	term.wait(t, "a frame of the same tape", has("frame 2.4 · notification"))
	term.press(t, "O")
	term.wait(t, "the second turn", func(s string) bool { return strings.Contains(s, "turn:2") && strings.Contains(s, "2 of 3 ") })
	term.press(t, "<Backspace>:1.1<Enter>")
	term.wait(t, "the first tape", has("frame 1.1 · request"))
	term.press(t, "3")
	term.wait(t, "the conversation", func(s string) bool { return strings.Contains(s, "on monday") && strings.Contains(s, "on tuesday") })
	term.press(t, "4")
	term.wait(t, "the turns", func(s string) bool { return strings.Contains(s, "Turn 1") && strings.Contains(s, "Turn 2") })
}
