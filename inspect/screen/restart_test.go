package screen_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/record"
)

// TestRestart: while a tape is looked at, the next one of the same agent is announced,
// and that of no other; one key opens it in the same place and follows it.
func TestRestart(t *testing.T) {
	t.Parallel()
	const announced = "a new tape of agent has begun: R opens it"
	store := record.OpenStore(t.TempDir())
	first := begin(t, store, "/opt/agent", "/w")
	first.prompts("the first")
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "", first.Tape()), 120, 24)
	term.press(t, "«1 of 1 · following»R«no other tape of this agent has begun»3«turn 1: running»")
	first.ends()
	second := begin(t, store, "/opt/agent", "/w")
	second.prompts("the second")
	defer second.ends()
	s := term.wait(t, "the announcement", has(announced))
	if !strings.Contains(s, "the first") {
		t.Errorf("got\n%s\nwant the first tape until R", s)
	}
	for _, other := range []run{begin(t, store, "/opt/other", "/w"), begin(t, store, "/opt/agent", "/elsewhere")} {
		other.prompts("of another")
		defer other.ends()
	}
	term.press(t, "1«other»«of another»") // by now they would be announced
	term.press(t, "2«"+announced+"»?«"+announced+"»<Esc>3«"+announced+"»R«the second»«turn 1: running»")
	if s := term.wait(t, "no announcement", func(s string) bool { return !strings.Contains(s, announced) }); strings.Contains(s, "the first") {
		t.Errorf("got\n%s\nwant the second tape only", s)
	}
	term.press(t, "2«1 of 1 · following»")
	third := begin(t, store, "/opt/agent", "/w")
	defer third.ends()
	term.press(t, "«"+announced+"»<^R>")
	term.wait(t, "that it is dismissed", func(s string) bool { return !strings.Contains(s, announced) })
	term.press(t, "R«no other tape of this agent has begun»")
}

// TestRestartGone: the tape that is announced may be gone.
func TestRestartGone(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	first := begin(t, store, "/opt/agent", "/w")
	first.prompts("the first")
	first.ends()
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "", first.Tape()), 120, 24)
	term.press(t, "«1 of 1»")
	second := begin(t, store, "/opt/agent", "/w")
	term.press(t, "«R opens it»")
	second.ends()
	if _, err := store.Delete(second.Tape()); err != nil {
		t.Fatal(err)
	}
	term.press(t, "R«no such tape»")
	term.wait(t, "no announcement", func(s string) bool { return !strings.Contains(s, "R opens it") })
}
