package tracepage

import (
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/record/termtext"
)

// The latencies are how long some calls took.
type latencies struct {
	each    []time.Duration
	longest time.Duration
	slowest uint64 // the frame of the longest
}

func (l *latencies) add(took time.Duration, seq uint64) {
	if l.each = append(l.each, took); len(l.each) == 1 || took > l.longest {
		l.longest, l.slowest = took, seq
	}
}

// columns returns the columns of quantiles and the longest.
func (l *latencies) columns() string {
	slices.Sort(l.each)
	return fmt.Sprintf("%s %s %s %s", latencyColumn(quantile(l.each, .5)), latencyColumn(quantile(l.each, .95)), latencyColumn(quantile(l.each, .99)), latencyColumn(l.longest))
}

// latencyColumn returns a latency in a column.
func latencyColumn(d time.Duration) string { return fmt.Sprintf("%7s", termtext.Duration(d)) }

// quantile returns the latency that a part of the calls does not exceed, such as
// 0.95. The latencies are sorted.
func quantile(latencies []time.Duration, part float64) time.Duration {
	if len(latencies) == 0 {
		return 0
	}
	i := int(part*float64(len(latencies))+0.5) - 1
	return latencies[min(max(i, 0), len(latencies)-1)]
}
