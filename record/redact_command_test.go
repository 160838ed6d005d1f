package record_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/record"
)

// A command line without its secrets is another one: whoever has the first keeps
// it as it is, and with it the name of the agent's sessions.
func TestRedactCommand(t *testing.T) {
	info := record.Info{Start: record.Start{Command: []string{"env", "KEY=value", "agent", "--token", "abcdefgh", "--split-string=A=b c", "cd x; B='d e' C=f run --n=1 g=h"}}}
	before := info.Agent()
	got := record.RedactCommand(info.Start.Command)
	if want := []string{"env", "KEY=[redacted]", "agent", "--token", "[redacted]", "--split-string=A=[redacted] c", "cd x; B=[redacted] C=[redacted] run --n=1 g=[redacted]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if after := info.Agent(); after != before {
		t.Errorf("the sessions are of %s then, want %s: %q", after, before, info.Start.Command)
	}
}
