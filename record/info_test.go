package record_test

import (
	"testing"

	"github.com/acptap/acptap/record"
)

// TestAgent: sessions of different agents are distinct, even if the agents are reached by URL
// and count their sessions alike.
func TestAgent(t *testing.T) {
	for _, tt := range []struct {
		name  string
		start record.Start
		want  string
	}{
		{"named", record.Start{Name: "mine", Command: []string{"agent"}, Upstream: "http://127.0.0.1:1/acp"}, "mine"},
		{"command", record.Start{Command: []string{"/bin/agent", "acp"}}, "agent-59662982"},
		{"URL", record.Start{Upstream: "http://127.0.0.1:1/acp"}, "http://127.0.0.1:1/acp"},
		{"nothing", record.Start{}, ""},
	} {
		if got := (record.Info{Start: tt.start}).Agent(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
