package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/record/trace"
)

// slowest is how many of the slowest calls are listed.
const slowest = 10

// numbers tells how much of what was said, and how long answers took.
func (s *story) numbers(width int) []line {
	s.mu.Lock()
	defer s.mu.Unlock()
	latencies := map[string][]time.Duration{}
	var answered []*trace.Call
	for _, c := range s.trace.Calls {
		if !c.Open() {
			latencies[c.Method] = append(latencies[c.Method], c.Latency())
			answered = append(answered, c)
		}
	}
	columns := min(max(width-57, 16), 36)
	lines := []line{{spans: []span{{bold, pad("Method", columns) +
		fmt.Sprintf("%8s %6s %8s %7s %7s %7s %7s", "frames", "failed", "bytes", "p50", "p95", "p99", "max")}}, stays: true}}
	for _, called := range s.tally.inOrder() {
		c := s.tally[called]
		l := latencies[called]
		slices.Sort(l)
		row := []span{
			{plain, pad(Cut(piece(called), columns), columns)},
			{plain, fmt.Sprintf("%8s ", grouped(int64(c.frames)))},
			{plain, fmt.Sprintf("%6s ", blankZero(c.failed))},
			{plain, fmt.Sprintf("%8s ", byteSize(c.bytes))},
		}
		if c.failed > 0 {
			row[2].style = red
		}
		if len(l) > 0 {
			row = append(row, span{plain, fmt.Sprintf("%s %s %s %s", took(quantile(l, .5)),
				took(quantile(l, .95)), took(quantile(l, .99)), took(l[len(l)-1]))})
		}
		lines = append(lines, line{spans: row})
	}
	slices.SortStableFunc(answered, func(a, b *trace.Call) int { return cmp.Compare(b.Latency(), a.Latency()) })
	lines = append(lines, line{}, line{spans: []span{{bold, "Slowest calls"}}})
	for _, c := range answered[:min(len(answered), slowest)] {
		row := []span{{plain, took(c.Latency()) + "  "}, {dim, fmt.Sprintf("frame %-8s ", s.label(c.Request))}, {plain, words(piece(c.Method), piece(c.Tool))}}
		if c.Failed {
			row = append(row, span{red, " failed"})
		}
		lines = append(lines, line{spans: row, seq: c.Request})
	}
	return lines
}

// took returns a latency in a column.
func took(d time.Duration) string { return fmt.Sprintf("%7s", brief(d)) }

func blankZero(n int) string {
	if n == 0 {
		return ""
	}
	return grouped(int64(n))
}
