package stats

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/record/trace"
)

// Slowest returns the calls that took longest, the longest first, n at most. Those that
// have no end, or of which no time is known, are not among them.
func Slowest(calls []*trace.Call, n int) []*trace.Call {
	var answered []*trace.Call
	for _, c := range calls {
		if !c.Open() && !c.Untimed {
			answered = append(answered, c)
		}
	}
	slices.SortStableFunc(answered, func(a, b *trace.Call) int { return cmp.Compare(b.Latency(), a.Latency()) })
	return answered[:min(len(answered), n)]
}
