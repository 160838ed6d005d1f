package screen_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/record"
)

// TestOpens: a tape opens on its worst failure or else on its first turn, in each place, and
// rows name tool calls and answers, not their ids.
func TestOpens(t *testing.T) {
	sub := portableSubject(t, "unhappy", unhappy)
	sub.Frame = 0
	term := start(t, screen.Inspector{}, sub, 120, 40)
	term.reads(t)
	term.press(t, "«─ frame 20 ·»")
	if s := term.text(); !strings.Contains(s, "go test → Allow") {
		t.Errorf("got\n%s\nwant the tool call's title and the answer's name", s)
	}
	sub = subject(t, "acp-go-sdk.jsonl")
	sub.Frame = 0
	term = start(t, screen.Inspector{}, sub, 120, 40)
	term.reads(t)
	term.press(t, "«─ frame 5 ·»3« 3 of 20»4«Turn 1»2«─ frame 5 ·»")
}

// TestOpensOnSummary: a tape in the store opens on its summary, from whose lines Enter goes to
// frames, and Esc back the same way.
func TestOpensOnSummary(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	if _, err := store.Import(strings.NewReader(unhappy), "unhappy", nil); err != nil {
		t.Fatal(err)
	}
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 100, 24)
	term.press(t, "« 1 of 1 · »<Enter>«✗ agent died: exit 2 (frame 20)»«turn 1 »«cost »")
	term.press(t, "/exit 2 (frame 20)<Enter><Esc><Enter>«─ frame 20 ·»<Esc>«✗ agent died: exit 2 (frame 20)»<Esc>« 1 of 1 · »")
}

// TestWithoutSession: where a tape has no conversation, its summary stands in its place.
func TestWithoutSession(t *testing.T) {
	term := start(t, screen.Inspector{}, subject(t, "mcp-everything.jsonl"), 120, 40)
	term.reads(t)
	for _, place := range []string{"3«There is no conversation on this tape.»", "4«There are no turns on this tape»"} {
		term.press(t, place)
		if s := term.text(); !strings.Contains(s, "\n asked ") || !strings.Contains(s, "\n time ") {
			t.Errorf("got\n%s", s)
		}
	}
}
