package steps_test

import (
	"math/rand/v2"
	"testing"

	"github.com/acptap/acptap/record/trace/steps"
)

// Of a few random ranges, the only one that contains another is found.
func TestEnclosing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() (from, to int) {
		from = r.IntN(12)
		return from, from + r.IntN(6)
	}
	for range 20_000 {
		ranges := make([]steps.Range[int], r.IntN(6))
		for i := range ranges {
			from, to := random()
			ranges[i] = steps.Range[int]{From: from, To: to, Index: i}
		}
		from, to := random()
		want, found := -1, 0
		for _, one := range ranges {
			if one.From <= from && to <= one.To {
				want, found = one.Index, found+1
			}
		}
		if found > 1 {
			want = -1
		}
		e := steps.NewEnclosing(ranges)
		if got := e.Only(from, to); got != want {
			t.Fatalf("%d to %d in %v: got %d, want %d", from, to, ranges, got, want)
		}
	}
}
