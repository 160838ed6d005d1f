package screen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
)

// TestHistory finds the filters of the last run again.
func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filters")
	in := screen.Inspector{History: path}
	sub := subject(t, "acp-go-sdk.jsonl")
	term := open(t, in, sub, 100, 24)
	term.reads(t)
	term.press(t, "/kind:request<Enter>«· filter kind:request»/<Up>«filter: kind:request»<Enter><Esc>/is:error<Enter>«· filter is:error»")
	term.close(t)
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "kind:request\nis:error\n" {
		t.Errorf("the file has %q (%v)", text, err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v (%v)", fi.Mode(), err)
	}

	term = start(t, in, sub, 100, 24)
	term.reads(t)
	term.press(t, "/dir:<Up>«filter: is:error»<Up>«filter: kind:request»<Up><Down>«filter: is:error»<Down>«filter: dir:»")
}

// TestHistoryDamaged works with an unusable history file, and if none can be created.
func TestHistoryDamaged(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ name, text string }{
		{"bytes", "\x00\xff\x1b[31m\nkind:request\r\n\n" + strings.Repeat("x", 5000) + "\n"},
		{"large", strings.Repeat("kind:request\n", 100_000)},
	} {
		path := filepath.Join(dir, tt.name)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		term := open(t, screen.Inspector{History: path}, subject(t, "acp-go-sdk.jsonl"), 100, 24)
		term.reads(t)
		term.press(t, "/is:error<Enter>«· filter is:error»")
		term.close(t)
		text, err := os.ReadFile(path)
		if want := "is:error\n"; err != nil || !strings.HasSuffix(string(text), want) || strings.Contains(string(text), "\x1b") {
			t.Errorf("%s: the file has %.100q (%v)", tt.name, text, err)
		}
	}
	term := start(t, screen.Inspector{History: filepath.Join(dir, "none", "filters")}, subject(t, "acp-go-sdk.jsonl"), 100, 24)
	term.reads(t)
	term.press(t, "/is:error<Enter>«· filter is:error»/<Up>«filter: is:error»")
}
