package redact_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/record/redact"
)

// A command line without its secrets is another one: whoever has the first keeps
// it as it is, and with it the name of the agent's sessions.
func TestRedactCommand(t *testing.T) {
	command := []string{"env", "KEY=value", "agent", "--token", "abcdefgh", "--split-string=A=b c", "cd x; B='d e' C=f run --n=1 g=h"}
	before := slices.Clone(command)
	got := redact.Command(command)
	if want := []string{"env", "KEY=[redacted]", "agent", "--token", "[redacted]", "--split-string=A=[redacted] c", "cd x; B=[redacted] C=[redacted] run --n=1 g=[redacted]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !slices.Equal(command, before) {
		t.Errorf("the first is %q then, want %q", command, before)
	}
}
