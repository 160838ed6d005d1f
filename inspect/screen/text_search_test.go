package screen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
)

// TestSearchChat: words are found while they are typed, also where they are folded away,
// Esc goes back, and the same words go on in another place and in another run.
func TestSearchChat(t *testing.T) {
	history := filepath.Join(t.TempDir(), "filters")
	term := start(t, screen.Inspector{History: history}, subject(t, "acp-go-sdk.jsonl"), 100, 24)
	term.reads(t)
	term.press(t, "3«11:37:12»/«search:»# my«1 of 1»«  # My Project\n»<Esc>")
	term.wait(t, "what was folded, folded again", func(s string) bool {
		return strings.Contains(s, "▸ read · Reading project files") && strings.Contains(s, " 7 of ") && !strings.Contains(s, "search #")
	})
	term.press(t, "g/project<Enter>«search project: 1 of »n«project: 2 of »N«project: 1 of »N«from the bottom again»n«from the top again»")
	term.press(t, "<Esc>")
	term.wait(t, "the end of the search", func(s string) bool {
		return !strings.Contains(s, "search project") && strings.Contains(s, "Esc back")
	})
	term.press(t, "/nowhere<Enter>«not here: nowhere»/<Up><Up><Enter>«search project: 1 of »")
	term.press(t, "6n«not here: project»/<Enter>«not here: project»/<Esc>«search project: no match»")
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(history), "searches")); err != nil || string(b) != "project\nnowhere\n" && string(b) != "nowhere\nproject\n" {
		t.Errorf("got %q and %v, want what was looked for", b, err)
	}
	again := start(t, screen.Inspector{History: history}, subject(t, "acp-go-sdk.jsonl"), 100, 24)
	again.reads(t)
	again.press(t, "3«11:37:12»n«search project: 2 of »")
}

// TestChatToFrame: Enter goes to the frame of a message, where the words searched for are
// marked too, and Esc comes back.
func TestChatToFrame(t *testing.T) {
	term := start(t, screen.Inspector{}, subject(t, "acp-go-sdk.jsonl"), 100, 40)
	term.reads(t)
	term.press(t, "3«11:37:12»/# my<Enter>«search # my: 1 of 1»<Enter>«frame 8 · notification»")
	term.press(t, "n«not in this frame: # my»j«frame 9 · notification»«search # my: 1 of 2»<Esc>«Enter frame»«search # my»")
	term.press(t, "<Esc><Esc>«frame 9 · notification»")
}

// TestFoldKeys folds and unfolds the item under the cursor, in the conversation and in a
// frame.
func TestFoldKeys(t *testing.T) {
	term := start(t, screen.Inspector{}, subject(t, "acp-go-sdk.jsonl"), 100, 40)
	term.reads(t)
	term.press(t, ":8<Enter>3«▸ read · Reading»l«▾ read · Reading»l«▾ read · Reading»h«▸ read · Reading» «▾ read · Reading»<Left>«▸ read · Reading»<Right>«▾ read · Reading»")
	term.press(t, "2<Tab>/path<Enter>«search path: 1 of »<Esc>«Esc back»h")
	term.wait(t, "what it is in", func(s string) bool { return strings.Contains(s, "Esc back") })
	term.press(t, "h«{ … »l")
	term.wait(t, "it unfolded", func(s string) bool { return !strings.Contains(s, "{ … ") })
}

// TestNarrowStore: words leave the tapes and sessions that have them, while they are
// typed, and Esc shows all again.
func TestNarrowStore(t *testing.T) {
	store, ids := onTwoTapes(t)
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 100, 24)
	term.press(t, "«on monday»/"+ids[1]+"«1 of 1»<Enter>«filter "+ids[1]+": 1 of 1»")
	term.wait(t, "one tape", func(s string) bool { return strings.Contains(s, ids[1]) && !strings.Contains(s, ids[0]) })
	term.press(t, "<Esc>« of 5»/zzz«No line has these words»<Esc>« of 5»/on monday<Enter>«: 1 of 2»n«: 2 of 2»")
}

// TestCopyFromPages copies a message, a line, and references, and writes text to a file.
func TestCopyFromPages(t *testing.T) {
	store, ids := onTwoTapes(t)
	t.Chdir(t.TempDir())
	first := screen.TapesOf(store, "", ids[0])
	first.Frame = 1
	for _, tt := range []struct{ name, keys, says, want string }{
		{"block", "3«user»/10:00:01<Enter>yy", "text sent", "user"},
		{"line", "3«user»/10:00:01<Enter>yv", "line sent", "user  10:00:01"},
		{"frame of a block", "3«user»/10:00:01<Enter>yp", "reference " + ids[0] + ":1 sent", ids[0] + ":1"},
		{"frame in the list", "jjyp", "reference " + ids[0] + ":3 sent", ids[0] + ":3"},
		{"tape", "1«run 1 of 2»Gyp", "reference s1 sent", "s1"},
		{"turn", "4«Turn 1»/turn 1<Enter>yy", "text sent", "at 1.00 s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			term := start(t, screen.Inspector{Store: store}, first, 120, 24)
			term.reads(t)
			term.press(t, tt.keys)
			term.wait(t, tt.says, has(tt.says))
			if got := string(term.GetClipboardData()); !strings.HasPrefix(got, tt.want) || tt.name == "block" && !strings.HasSuffix(got, "\n  on monday") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	term := start(t, screen.Inspector{Store: store}, first, 120, 24)
	term.reads(t)
	term.press(t, "3«user»/10:00:01<Enter>w«write the text to: chat.txt»<Enter>«written to chat.txt»")
	if b, err := os.ReadFile("chat.txt"); err != nil || !strings.HasSuffix(string(b), "on monday\n") {
		t.Errorf("got %q and %v, want what was said", b, err)
	}
}

// TestFoundOpensAtMatch: a result of a search of all tapes opens at the match in the frame,
// and n continues there.
func TestFoundOpensAtMatch(t *testing.T) {
	store, ids := onTwoTapes(t)
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "", ids[0]), 100, 24)
	term.reads(t)
	term.press(t, "s\"out of tokens\"<Enter>«error -32603 out of tokens»j<Enter>«frame 5 · response session/prompt»«in this frame: 1 of 1»")
	term.press(t, "n«from the top again»")
	if marked := term.marked(t); marked != "out of tokens" {
		t.Errorf("got %q marked, want what was searched for", marked)
	}
	term.press(t, "<Esc>")
	term.wait(t, "what was found", has(ids[1]+"  2026-11"))
}

// marked returns the text on the screen that is marked as the current match.
func (t *terminal) marked(tb testing.TB) string {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

// TestClickFolds: a click on the sign folds, a click next to it does not, a double click goes
// to the frame, and two clicks on different lines do not.
func TestClickFolds(t *testing.T) {
	term := start(t, screen.Inspector{}, subject(t, "acp-go-sdk.jsonl"), 100, 40)
	term.reads(t)
	term.press(t, "3«11:37:12»")
	row := func() int {
		for y, line := range strings.Split(term.text(), "\n") {
			if strings.Contains(line, "read · Reading") {
				return y
			}
		}
		t.Fatal("no tool call on the screen")
		return 0
	}
	term.click(1, row())
	term.wait(t, "the tool call unfolded", has("▾ read · Reading"))
	term.click(1, row())
	term.wait(t, "the tool call folded", has("▸ read · Reading"))
	at := row()
	term.click(10, at)
	term.click(10, at+1) // elsewhere: no double click
	term.press(t, "«▸ read · Reading»")
	term.click(10, at)
	term.click(10, at)
	term.wait(t, "its frame", has("frame 8 · notification"))
}
