package inspect

import (
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/record/termtext"
)

// A timing is how long some calls took.
type timing struct {
	each    []time.Duration
	longest time.Duration
	slowest uint64 // the frame of the longest
}

func (t *timing) add(took time.Duration, seq uint64) {
	if t.each = append(t.each, took); len(t.each) == 1 || took > t.longest {
		t.longest, t.slowest = took, seq
	}
}

// tell returns the columns of quantiles and the longest.
func (t *timing) tell() string {
	slices.Sort(t.each)
	return fmt.Sprintf("%s %s %s %s", took(quantile(t.each, .5)), took(quantile(t.each, .95)), took(quantile(t.each, .99)), took(t.longest))
}

// took returns a latency in a column.
func took(d time.Duration) string { return fmt.Sprintf("%7s", termtext.Duration(d)) }

// quantile returns the latency that a part of the calls does not exceed, such as
// 0.95. The latencies are sorted.
func quantile(latencies []time.Duration, part float64) time.Duration {
	if len(latencies) == 0 {
		return 0
	}
	i := int(part*float64(len(latencies))+0.5) - 1
	return latencies[min(max(i, 0), len(latencies)-1)]
}
