package filter_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// rule: finds the marks of a rule that changed the traffic, and as many frames of its
// direction after each as the mark says.
func TestRuleMarks(t *testing.T) {
	mark := func(dir wire.Direction, name string, frames int) dialect.Frame {
		return dialect.Frame{Frame: wire.Frame{Dir: dir, Kind: wire.Mark, Raw: wire.Marked{Rule: &wire.Rule{Name: name, Did: "x", Frames: frames}}.JSON()}}
	}
	frame := func(dir wire.Direction) dialect.Frame {
		return dialect.Frame{Frame: wire.Frame{Dir: dir, Kind: wire.Notification, Raw: []byte(`{"method":"x"}`)}}
	}
	const c2a, a2c = wire.ClientToAgent, wire.AgentToClient
	frames := []dialect.Frame{
		mark(c2a, "rules", 0), frame(a2c),
		mark(a2c, "late", 2), mark(a2c, "other", 1), frame(c2a), frame(a2c), frame(a2c), frame(a2c),
		{Frame: wire.Frame{Dir: a2c, Kind: wire.Mark, Raw: wire.Marked{Signal: "rule"}.JSON()}},
	}
	for query, want := range map[string][]int{
		"rule:late":          {2, 5, 6},
		"rule:other":         {3, 5},
		"rule:* kind:mark":   {0, 2, 3},
		"!rule:* !kind:mark": {1, 4, 7},
	} {
		f, err := filter.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		var tracker filter.Tracker
		var got []int
		for i := range frames {
			if s := tracker.Observe(&frames[i]); f.Match(&s) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
}
