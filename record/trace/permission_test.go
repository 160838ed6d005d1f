package trace_test

import (
	"testing"

	"github.com/acptap/acptap/record/trace"
)

func TestRefused(t *testing.T) {
	options := []trace.Option{{ID: "a", Kind: "allow_once"}, {ID: "r", Kind: "reject_once"}}
	for _, tt := range []struct {
		outcome, chosen string
		want            bool
	}{{"selected", "r", true}, {"selected", "a", false}, {"selected", "other", false}, {"cancelled", "", false}, {"", "", false}} {
		p := trace.Permission{Options: options, Outcome: tt.outcome, Chosen: tt.chosen}
		if got := p.Refused(); got != tt.want {
			t.Errorf("%+v: got %v, want %v", p, got, tt.want)
		}
	}
}
