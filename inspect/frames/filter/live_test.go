package filter_test

import (
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/wire"
)

// What can be said of a filter before a frame is known: whether it may select requests of the
// agent, and whether it needs nothing but the frame.
func TestBeforeFrames(t *testing.T) {
	for _, tt := range []struct {
		query      string
		can, plain bool
	}{
		{"", true, true},
		{"method:a", true, true},
		{"method:a kind:request", true, true},
		{"kind:response", false, true},
		{"!kind:request", false, true},
		{"!kind:response", true, true},
		{"dir:client | kind:response", false, true},
		{"dir:agent (kind:response | .params.x:1)", true, true},
		{"!(kind:request method:a)", true, true},
		{"kind:notification | `a.b`:1 kind:response", false, true},
		{"method:a turn:1", true, false},
		{"update:x | method:a", true, false},
		{"session:s !kind:request", false, false},
		{"id:7 words", true, true},
	} {
		f, err := filter.Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.CanSelect(wire.Request, wire.AgentToClient); got != tt.can {
			t.Errorf("%s: it may select a request of the agent: got %v, want %v", tt.query, got, tt.can)
		}
		if got := f.IsPlain(); got != tt.plain {
			t.Errorf("%s: it is plain: got %v, want %v", tt.query, got, tt.plain)
		}
	}
}
