package diffpage

import (
	"fmt"
	"testing"
	"time"

	"github.com/acptap/acptap/replay/compare"
)

// TestRowsDiffer: conversations that have nothing in common take bounded time.
func TestRowsDiffer(t *testing.T) {
	var left, right []compare.Step
	for i := range 50_000 {
		left = append(left, compare.Step{Text: fmt.Sprint("| a", i)})
		right = append(right, compare.Step{Text: fmt.Sprint("| b", i)})
	}
	began := time.Now()
	table := newTable(taken{steps: left}, taken{steps: right})
	if got := table.Summary(); got != "1 difference: 50,000 changed" {
		t.Errorf("got %s", got)
	}
	if d := time.Since(began); d > time.Minute {
		t.Errorf("took %v", d)
	}
}
