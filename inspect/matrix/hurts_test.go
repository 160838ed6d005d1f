package matrix_test

import (
	"testing"

	"github.com/acptap/acptap/inspect/matrix"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// TestHurts: allowed but harmful behaviour has its own sign, and unanswered requests count as
// broken. Some columns are observed, not offered.
func TestHurts(t *testing.T) {
	for _, tt := range []struct {
		tape, column string
		want         matrix.Mark
	}{
		{"threads/opencode-17505", "prompt", matrix.Hurting},
		{"threads/opencode-17505", "new", matrix.Works},
		{"threads/openhands-543", "new", matrix.Hurting},
		{"threads/agent-shell-758", "prompt", matrix.Broken},
		{"threads/claude-agent-acp-442", "prompt", matrix.Broken},
		{"threads/zed-64538", "load", matrix.Hurting},
		{"threads/opencode-17505", "ends with stdin", matrix.Works},
		{"threads/openclaw-70860", "ends with stdin", matrix.Hurting},
		{"threads/opencode-17505", "reports usage", matrix.NotOffered},
		{"threads/opencode-17505", "starts servers", matrix.NotSeen},
		{"threads/editor-closed", "reports usage", matrix.NotSeen},
		{"threads/agent-shell-758", "ends with stdin", matrix.NotSeen},
		{"tapes/dialects/acp-v1-subagents", "reports usage", matrix.Works},
	} {
		tape, err := record.OpenFile("../../testdata/" + tt.tape + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		m, broken := matrix.OfTapes(t.Context(), dialect.AgentSide, []matrix.Tape{{Tape: tape}}, nil)
		if broken != nil || len(m.Peers()) != 1 {
			t.Fatalf("%s: %v, %d peers", tt.tape, broken, len(m.Peers()))
		}
		cell := m.Peers()[0].Cell(tt.column)
		if got := cell.Mark(); got != tt.want {
			t.Errorf("%s, %s: got %v, want %v (%+v)", tt.tape, tt.column, got, tt.want, cell)
		}
	}
}
