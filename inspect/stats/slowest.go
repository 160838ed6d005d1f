package stats

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/record/trace"
)

// Slowest returns the n slowest calls, or fewer, the slowest first. It ignores calls
// without an end or with unknown times.
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
