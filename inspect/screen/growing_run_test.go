package screen_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// TestGrowingRun follows a message as it is recorded: its row always has the text that it
// would have if read from the tape.
func TestGrowingRun(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	live := begin(t, store, "agent", "/w")
	say := func(update, text string) {
		t.Helper()
		quoted, _ := json.Marshal(text)
		live.says(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":%q,"content":{"type":"text","text":%s}}}}`, update, quoted))
	}
	say("agent_message_chunk", "before it was ")
	say("agent_message_chunk", "opened, ")
	sub := screen.TapesOf(store, "", live.Tape())
	const width = 640 // more than a summary has
	term := start(t, screen.Inspector{Store: store}, sub, width, 24)
	row := func(times string) string {
		t.Helper()
		s := term.wait(t, times, has("agent_message_chunk "+times+" "))
		for line := range strings.Lines(s) {
			if strings.Contains(line, times) {
				list, _, _ := strings.Cut(line, "│") // the pane next to it shows whatever frame is selected
				return list
			}
		}
		return ""
	}
	if got := row("×2"); !strings.Contains(got, "before it was opened,") {
		t.Errorf("got %q", got)
	}
	say("agent_message_chunk", "and\n")
	say("agent_message_chunk", "after \x1b[31mthat")
	if got, want := row("×4"), "before it was opened, and ↵ after that"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
	for i := range 300 {
		say("agent_message_chunk", fmt.Sprintf(" word %d", i))
	}
	grown := row("×304")
	say("agent_thought_chunk", strings.Repeat("a long thought ", 500))
	term.wait(t, "the thought", has("a long thought"))
	say("agent_message_chunk", "another ")
	say("agent_message_chunk", "one")
	row("×2")
	term.wait(t, "a run of its own", has("another one"))

	// The followed frame is shown as soon as it is recorded.
	term.press(t, "z")
	term.press(t, "G")
	say("agent_message_chunk", " more")
	term.wait(t, "the last frame", has(`text: " more"`))

	// Who opens the tape now reads the same.
	live.Exit(0, nil, [wire.Directions]int64{})
	live.ends()
	term = start(t, screen.Inspector{Store: store}, sub, width, 24)
	if read := row("×304"); read != grown {
		t.Errorf("grown  %q\nread   %q", grown, read)
	}
}
