package steps_test

import (
	"encoding/json"
	"testing"

	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// What is done of a plan: also what was cancelled, as in the line of its frame.
func TestPlanText(t *testing.T) {
	raw := json.RawMessage(`{"entries":[{"status":"completed"},{"status":"cancelled"},{"status":"in_progress"},{"status":"pending"}]}`)
	step := steps.Step{Entity: &trace.Entity{Plan: &trace.Plan{Raw: raw}}}
	if got, want := step.Text(), "2 of 4 steps done"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
