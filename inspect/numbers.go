package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/ansi"
)

// listed is how many of the slowest calls are listed, and how many of the last
// without an answer.
const listed = 10

// numbers tells how much of what was said, and how long answers took.
func (s *story) numbers(width int) []line {
	s.mu.Lock()
	defer s.mu.Unlock()
	latencies := map[string][]time.Duration{}
	var answered, open []*trace.Call
	for _, c := range s.trace.Calls {
		switch {
		case !c.Open():
			latencies[c.Method] = append(latencies[c.Method], c.Latency())
			answered = append(answered, c)
		case !c.Cancelled:
			open = append(open, c)
		}
	}
	columns := min(max(width-57, 16), 36)
	lines := []line{{spans: []span{{ansi.Bold, ansi.Pad("Method", columns) +
		fmt.Sprintf("%8s %6s %8s %7s %7s %7s %7s", "frames", "failed", "bytes", "p50", "p95", "p99", "max")}}, stays: true}}
	for _, called := range s.tally.inOrder() {
		c := s.tally[called]
		l := latencies[called]
		slices.Sort(l)
		row := []span{
			{ansi.Plain, ansi.Pad(ansi.Cut(piece(called), columns), columns)},
			{ansi.Plain, fmt.Sprintf("%8s ", ansi.Grouped(int64(c.frames)))},
			{ansi.Plain, fmt.Sprintf("%6s ", blankZero(c.failed))},
			{ansi.Plain, fmt.Sprintf("%8s ", ansi.ByteSize(c.bytes))},
		}
		if c.failed > 0 {
			row[2].style = ansi.Red
		}
		if len(l) > 0 {
			row = append(row, span{ansi.Plain, fmt.Sprintf("%s %s %s %s", took(quantile(l, .5)),
				took(quantile(l, .95)), took(quantile(l, .99)), took(l[len(l)-1]))})
		}
		lines = append(lines, line{spans: row})
	}
	slices.SortStableFunc(answered, func(a, b *trace.Call) int { return cmp.Compare(b.Latency(), a.Latency()) })
	lines = append(lines, line{}, line{spans: []span{{ansi.Bold, "Slowest calls"}}})
	for _, c := range answered[:min(len(answered), listed)] {
		lines = append(lines, s.call(c, took(c.Latency())))
	}
	if len(open) > 0 {
		lines = append(lines, line{}, line{spans: []span{{ansi.Bold, "Calls without an answer"}}})
	}
	for _, c := range open[max(len(open)-listed, 0):] {
		lines = append(lines, s.call(c, ansi.Pad("", 7)))
	}
	return lines
}

// call tells of a call, behind its latency. It is where its request is.
func (s *story) call(c *trace.Call, latency string) line {
	row := []span{{ansi.Plain, latency + "  "}, {ansi.Dim, fmt.Sprintf("frame %-8s ", s.label(c.Request))}, {ansi.Plain, words(piece(c.Method), piece(c.Tool))}}
	if c.Failed {
		row = append(row, span{ansi.Red, " failed"})
	}
	return line{spans: row, seq: c.Request}
}

// took returns a latency in a column.
func took(d time.Duration) string { return fmt.Sprintf("%7s", brief(d)) }

func blankZero(n int) string {
	if n == 0 {
		return ""
	}
	return ansi.Grouped(int64(n))
}
