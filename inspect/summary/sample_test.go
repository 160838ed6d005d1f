package summary

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The median of few is exact, that of many within a percent.
func TestSample(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 100, maxExact, maxExact + 1, 100_000} {
		var s sample
		var all []time.Duration
		for i := range n {
			d := time.Duration(rng.ExpFloat64() * float64(time.Second))
			all = append(all, d)
			s.add(d, 0, uint64(i+1))
		}
		worst := slices.Index(all, slices.Max(all))
		slices.Sort(all)
		want, off := all[(n-1)/2], time.Duration(0)
		if n > maxExact {
			off = want / 100
		}
		if got := s.median(); got < want-off || got > want+off {
			t.Errorf("median of %d: got %v, want %v", n, got, want)
		}
		if got := s.spread(); got.Count != n || time.Duration(got.Worst) != all[n-1] || got.Frame.Seq != uint64(worst+1) {
			t.Errorf("of %d: got %+v, want the worst %v in frame %d", n, got, all[n-1], worst+1)
		}
		if s.median() > s.worst {
			t.Errorf("of %d: the median is worse than the worst", n)
		}
	}
	if got := new(sample).spread(); got != nil {
		t.Errorf("of nothing: got %+v", got)
	}
	var zero sample
	for range maxExact + 10 {
		zero.add(0, 0, 1)
	}
	if got := zero.median(); got > time.Nanosecond {
		t.Errorf("of zeros: got %v", got)
	}
}
