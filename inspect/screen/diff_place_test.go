package screen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// twoRuns has two tapes of the same agent, of which the later one differs a little.
func twoRuns(t *testing.T) *record.Store {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tapeDir, "acp-go-sdk.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer("113708-efvws7", "113908-kx9gyv", "11:37:", "11:39:", "Reading project files", "Reading all project files",
		"I've successfully updated the configuration", "I have updated the configuration", "end_turn", "max_tokens").Replace(string(text))
	store := record.OpenStore(t.TempDir())
	for _, text := range []string{string(text), changed} {
		if _, err := store.Import(strings.NewReader(text), "tape", nil); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// TestDiffScreens shows two tapes side by side.
func TestDiffScreens(t *testing.T) {
	const open = "mGD«differences:»"
	store := twoRuns(t)
	tests := []struct{ name, keys string }{
		{"two-marked", "m"},
		{"two", open},
		{"two-unfolded", open + "z"},
		{"two-next", open + "]"},
		{"two-keys", open + "?"},
		{"two-frames", open + "D«against»"},
		{"two-exact", open + "x«exact»"},
	}
	for _, tt := range tests {
		atSizes(t, tt.name, sizes, func(t *testing.T, name string, s size) {
			term := start(t, screen.Inspector{Store: store}, screen.Subject{}, s.width, s.height)
			term.wait(t, "the tapes", has("of 2"))
			term.press(t, tt.keys)
			term.golden(t, name)
		})
	}
}

// TestDiffLeads goes from a difference to the frames of both sides and back to the same
// line.
func TestDiffLeads(t *testing.T) {
	t.Parallel()
	term := start(t, screen.Inspector{Store: twoRuns(t)}, screen.Subject{}, 120, 40)
	term.wait(t, "the tapes", has("of 2"))
	term.press(t, "8«in the store, m marks a tape»D«mark another one with m first»mD«this one is marked»GD«2 differences:»")
	at := func() string {
		lines := strings.Split(term.text(), "\n")
		return lines[len(lines)-3] // the status line
	}
	term.press(t, "]«left frame 15 · right frame 15»")
	place := at()
	back := func(key string) {
		t.Helper()
		term.press(t, key+"<Esc>«other side»")
		if got := at(); got != place {
			t.Errorf("%s: got %q, want %q", key, got, place)
		}
	}
	back("<Enter>«frame 15 ·»«max_tokens»")
	back("%«frame 15 ·»«end_turn»")
	back("<Tab><Enter>«frame 15 ·»«end_turn»")
	back("%«frame 15 ·»«max_tokens»")
	back("D«left frame 15 against right frame 15»")
	term.press(t, "[«left frame 8 · right frame 8»[«no difference further up»]]«no difference further down»")
}

// TestDiffFolds: equal steps are one line until they are unfolded, and the cursor stays
// with them.
func TestDiffFolds(t *testing.T) {
	t.Parallel()
	term := start(t, screen.Inspector{Store: twoRuns(t)}, screen.Subject{}, 120, 60)
	term.wait(t, "the tapes", has("of 2"))
	term.press(t, "mGD«differences:»gk«1 of»")
	folded := term.wait(t, "folded steps", has(" equal ·"))
	term.press(t, "<Enter>«initialize: ok»")
	term.press(t, " ")
	term.wait(t, "the same as before", func(s string) bool { return s == folded })
}

// TestDiffLive: frames recorded on one side appear, and deleting a tape ends the comparison.
func TestDiffLive(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	const prompt = `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s%d","prompt":[{"type":"text","text":"hello"}]}}`
	old, err := store.Import(strings.NewReader(`{"acptap":1,"started":"2026-11-10T10:00:00Z"}`+"\n"+`{"dir":"c2a","frame":`+fmt.Sprintf(prompt, 1)+"}\n"), "tape", nil)
	if err != nil {
		t.Fatal(err)
	}
	live := begin(t, store, "agent", "")
	defer live.ends()
	live.says(wire.ClientToAgent, fmt.Sprintf(prompt, 2))
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 120, 40)
	term.wait(t, "the tapes", has("of 2"))
	term.press(t, "mGD«no difference»«live»")
	live.says(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"refusal"}}`)
	term.press(t, "«turn 1: refused»«1 difference: 1 changed»")
	if _, err := store.Delete(old); err != nil {
		t.Fatal(err)
	}
	term.press(t, "1«of 1»8«1 difference: 1 changed»")
}

// TestDiffDeleted: the inspector that deletes a tape shows it no longer.
func TestDiffDeleted(t *testing.T) {
	t.Parallel()
	term := start(t, screen.Inspector{Store: twoRuns(t)}, screen.Subject{}, 120, 40)
	term.wait(t, "the tapes", has("of 2"))
	term.press(t, "mGD«differences:»1«2 of 2»<^X>yes<Enter>«of 1»")
	s := term.wait(t, "no place for it", func(s string) bool { return !strings.Contains(s, "8 diff") })
	if strings.Contains(s, "▪") == false {
		t.Errorf("the other tape is not marked any more:\n%s", s)
	}
	term.press(t, "8«in the store, m marks a tape»")
}
