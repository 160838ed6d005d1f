package summary_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// TestFound: what hurts is a line, and "nothing" failed only where nothing was found.
func TestFound(t *testing.T) {
	for name, want := range map[string]string{
		"threads/opencode-17505":        "check     known to hurt your client: text or tools after the end of the turn (frame 8) · more: acptap check x",
		"threads/fx-993":                "check     known to hurt your agent: a prompt in the middle of a turn (frame 7) · more: acptap check x",
		"threads/claude-agent-acp-442":  "check     known to hurt your client: a cancelled turn that does not end (frame 5) · more: acptap check x",
		"threads/agent-of-empires-1908": "check     1 warning of the protocol · more: acptap check x",
		"threads/queued-prompt":         "failed    nothing", // a note
		"threads/long-build":            "failed    ✗ turn 1: no answer (frame 5)",
	} {
		s := summaryOf(t, name)
		s.Ref = "x"
		lines := text(s, 0)
		var got []string
		for line := range strings.Lines(lines) {
			label, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if label == "check" || label == "failed" && !strings.HasPrefix(want, "check") {
				got = append(got, strings.TrimRight(strings.NewReplacer("‹", "", "›", "").Replace(line), "\n"))
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q of\n%s", name, got, want, lines)
		}
	}
	b, err := json.Marshal(summaryOf(t, "threads/claude-agent-acp-442"))
	if want := `"found":{"hurts":[{"rule":"ACP447","what":"a cancelled turn that does not end","victim":"your client","count":1,"frame":5}],"hangs":1}`; err != nil || !strings.Contains(string(b), want) {
		t.Errorf("got %s, %v", b, err)
	}
}

// summaryOf returns the summary of a tape of testdata, as a command that opens it.
func summaryOf(t *testing.T, name string) summary.Summary {
	t.Helper()
	tape, err := record.OpenFile(filepath.Join("../../testdata", filepath.FromSlash(name)+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	parts, err := reading.Agents(tape)
	if err != nil {
		t.Fatal(err)
	}
	s, broken := summary.Of(t.Context(), reading.New(parts))
	if broken != nil {
		t.Fatal(broken)
	}
	return s
}
