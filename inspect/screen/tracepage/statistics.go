package tracepage

import (
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

const (
	listed   = 10  // number of slowest calls listed, and of unanswered ones
	maxTools = 100 // number of tools shown, most called first
)

// Statistics shows the number of frames of each method and the durations of calls.
func (r *Reader) Statistics(width int) []page.Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	form := tableForm{columns: min(max(width-57, 16), 36)}
	lines := append(append(r.methodLines(form), r.toolLines(form)...), r.serverLines(form)...)
	return append(append(lines, r.ruleLines(form)...), r.callLines()...)
}

// methodLines returns a row for each method and update variant.
func (r *Reader) methodLines(form tableForm) []page.Line {
	lines := []page.Line{form.heading("Method", "frames", "bytes")}
	lines[0].Heading = true
	for _, c := range r.methods.List() {
		lines = append(lines, r.row(form, frametext.Role(c.Name).Span(c.Name), c.Frames, c.Failed, termtext.ByteSize(c.Bytes), r.stats.Method(c.Name)))
	}
	return lines
}

// toolLines returns a row for each tool that a server's client called, and for each tool
// that an agent reported. Their durations exclude time spent asking the user.
func (r *Reader) toolLines(form tableForm) []page.Line {
	tools := r.stats.Tools()
	if len(tools) == 0 {
		return nil
	}
	lines := []page.Line{{}, form.heading("Tool", "calls", "")}
	for _, tool := range tools[:min(len(tools), maxTools)] {
		lines = append(lines, r.row(form, termtext.Plain.Span(tool.Name), tool.Total(), tool.Failed, "", tool.Timing))
	}
	return append(lines, moreLine(len(tools))...)
}

// moreLine says how many tools or servers are not listed.
func moreLine(all int) []page.Line {
	if all <= maxTools {
		return nil
	}
	return []page.Line{{Spans: termtext.Dim.Line(fmt.Sprintf("… and %s more", termtext.Grouped(int64(all-maxTools))))}}
}

// ruleLines returns a row for each rule that changed the traffic, which links to its first
// mark.
func (r *Reader) ruleLines(form tableForm) []page.Line {
	rules := r.rules.List()
	if len(rules) == 0 {
		return nil
	}
	heading := termtext.Pad("Rule", form.columns) + fmt.Sprintf("%8s %6s", "acts", "frames")
	lines := []page.Line{{}, {Spans: []termtext.Span{termtext.Bold.Span(heading)}}}
	for _, one := range rules[:min(len(rules), maxTools)] {
		name := termtext.Pad(termtext.Cut(termtext.Piece(one.Name), form.columns), form.columns)
		numbers := fmt.Sprintf("%8s %6s", termtext.Grouped(int64(one.Acts)), termtext.Grouped(int64(one.Frames)))
		lines = append(lines, page.Line{Spans: []termtext.Span{termtext.Dim.Span(name), termtext.Plain.Span(numbers)}, Seq: one.First})
	}
	return append(lines, moreLine(len(rules))...)
}

// callLines returns the slowest calls, and the unanswered ones.
func (r *Reader) callLines() []page.Line {
	var open []*trace.Call
	for _, c := range r.history.Trace.Calls {
		if c.Open() && !c.Cancelled {
			open = append(open, c)
		}
	}
	lines := []page.Line{{}, {Spans: []termtext.Span{termtext.Bold.Span("Slowest calls")}}}
	for _, c := range stats.Slowest(r.history.Trace.Calls, listed) {
		lines = append(lines, r.callLine(c, latencyColumn(c.Latency())))
	}
	if len(open) > 0 {
		lines = append(lines, page.Line{}, page.Line{Spans: []termtext.Span{termtext.Bold.Span("Calls without an answer")}})
	}
	for _, c := range open[max(len(open)-listed, 0):] {
		lines = append(lines, r.callLine(c, termtext.Pad("", 7)))
	}
	return lines
}

// callLine returns a call's line, which begins with its latency and links to its request.
func (r *Reader) callLine(c *trace.Call, latency string) page.Line {
	row := []termtext.Span{termtext.Plain.Span(latency + "  "), termtext.Dim.Span(fmt.Sprintf("frame %-8s ", r.label(c.Request))), frametext.Role(c.Name()).Span(termtext.Piece(c.Name())), termtext.Plain.Span(termtext.Labelled("", termtext.Piece(c.Tool)))}
	if c.Failed {
		row = append(row, termtext.Failure.Span(" failed"))
	}
	return page.Line{Spans: row, Seq: c.Request}
}

// A tableForm is the layout of a table of numbers.
type tableForm struct{ columns int } // width of the columns before the numbers

func (form tableForm) heading(of, count, bytes string) page.Line {
	return page.Line{Spans: []termtext.Span{termtext.Bold.Span(termtext.Pad(of, form.columns) +
		fmt.Sprintf("%8s %6s %8s %7s %7s %7s %7s", count, "failed", bytes, "p50", "p95", "p99", "max"))}}
}

// row returns the row for something with the given name, which is drawn in its own style.
// The line links to the slowest call; t is nil if there are none.
func (r *Reader) row(form tableForm, called termtext.Span, count, failed int, bytes string, t *stats.Timing) page.Line {
	l := page.Line{Spans: []termtext.Span{
		called.Style.Span(termtext.Pad(termtext.Cut(termtext.Piece(called.Text), form.columns), form.columns)),
		termtext.Plain.Span(fmt.Sprintf("%8s ", termtext.Grouped(int64(count)))),
		termtext.Plain.Span(fmt.Sprintf("%6s ", termtext.NonZero(int64(failed)))),
		termtext.Plain.Span(fmt.Sprintf("%8s ", bytes)),
	}}
	if failed > 0 {
		l.Spans[2].Style = termtext.Failure
	}
	if t != nil && t.Took.Count() > 0 {
		l.Spans, l.Seq = append(l.Spans, termtext.Plain.Span(timeColumns(&t.Took))), t.Slowest.Seq
	}
	return l
}

// timeColumns returns the columns for the percentiles and the maximum.
func timeColumns(s *stats.Series) string {
	var b strings.Builder
	for _, percent := range []int{50, 95, 99} {
		text := "–"
		if ns, ok := s.Percentile(percent); ok {
			text = termtext.Duration(time.Duration(ns))
		}
		fmt.Fprintf(&b, "%7s ", text)
	}
	return b.String() + latencyColumn(time.Duration(s.Max()))
}

// latencyColumn formats a latency as a column.
func latencyColumn(d time.Duration) string { return fmt.Sprintf("%7s", termtext.Duration(d)) }
