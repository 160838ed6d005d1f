package inspect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

const (
	listed   = 10  // of the slowest calls, and of the last without an answer
	maxTools = 100 // that are listed, those that were called most
)

// numbers tells how much of what was said, and how long answers took.
func (s *story) numbers(width int) []line {
	s.mu.Lock()
	defer s.mu.Unlock()
	form := numberForm{columns: min(max(width-57, 16), 36)}
	lines := append(s.methods(form), s.tools(form)...)
	return append(lines, s.calls()...)
}

// methods tells of each method and variant of an update.
func (s *story) methods(form numberForm) []line {
	took := map[string]*timing{}
	for _, c := range s.trace.Calls {
		if !c.Open() && !c.Untimed {
			entry(took, c.Method).add(c.Latency(), c.Request)
		}
	}
	lines := []line{form.heading("Method", "frames", "bytes")}
	lines[0].stays = true
	for _, called := range byCount(s.tally, func(c *count) int { return c.frames }) {
		c := s.tally[called]
		lines = append(lines, form.row(called, c.frames, c.failed, termtext.ByteSize(c.bytes), took[called]))
	}
	return lines
}

// A use is how often a tool was called, and how long that took.
type use struct {
	calls, failed int
	timing
}

func (u *use) count(failed bool) {
	if u.calls++; failed {
		u.failed++
	}
}

// tools tells of each tool that the client of a server has called, and of the
// tools that an agent has told of: these have a name (ACP v2), or a kind such as
// read.
func (s *story) tools(form numberForm) []line {
	uses := map[string]*use{}
	for _, c := range s.trace.Calls {
		if c.Tool == "" {
			continue
		}
		u := entry(uses, c.Tool)
		if u.count(c.Failed); !c.Open() && !c.Untimed {
			u.add(c.Latency(), c.Request)
		}
	}
	for _, session := range s.trace.Sessions {
		for _, e := range session.Conversation.Entities {
			t := e.ToolCall
			if t == nil || e.Replayed {
				continue
			}
			u := entry(uses, cmp.Or(t.Name, t.Kind, "other"))
			if u.count(t.Status == "failed"); t.Finished() && !e.Untimed {
				u.add(e.Ended-e.Began, e.First)
			}
		}
	}
	if len(uses) == 0 {
		return nil
	}
	tools := byCount(uses, func(u *use) int { return u.calls })
	lines := []line{{}, form.heading("Tool", "calls", "")}
	for _, tool := range tools[:min(len(tools), maxTools)] {
		u := uses[tool]
		lines = append(lines, form.row(tool, u.calls, u.failed, "", &u.timing))
	}
	if more := len(tools) - maxTools; more > 0 {
		lines = append(lines, line{spans: []termtext.Span{termtext.Dim.Span(fmt.Sprintf("… and %s more", termtext.Grouped(int64(more))))}})
	}
	return lines
}

// calls tells of the slowest calls, and of those that wait.
func (s *story) calls() []line {
	var answered, open []*trace.Call
	for _, c := range s.trace.Calls {
		switch {
		case !c.Open() && c.Untimed: // nobody knows how slow it was
		case !c.Open():
			answered = append(answered, c)
		case !c.Cancelled:
			open = append(open, c)
		}
	}
	slices.SortStableFunc(answered, func(a, b *trace.Call) int { return cmp.Compare(b.Latency(), a.Latency()) })
	lines := []line{{}, {spans: []termtext.Span{termtext.Bold.Span("Slowest calls")}}}
	for _, c := range answered[:min(len(answered), listed)] {
		lines = append(lines, s.call(c, took(c.Latency())))
	}
	if len(open) > 0 {
		lines = append(lines, line{}, line{spans: []termtext.Span{termtext.Bold.Span("Calls without an answer")}})
	}
	for _, c := range open[max(len(open)-listed, 0):] {
		lines = append(lines, s.call(c, termtext.Pad("", 7)))
	}
	return lines
}

// call tells of a call, behind its latency. It is where its request is.
func (s *story) call(c *trace.Call, latency string) line {
	row := []termtext.Span{termtext.Plain.Span(latency + "  "), termtext.Dim.Span(fmt.Sprintf("frame %-8s ", s.label(c.Request))), termtext.Plain.Span(termtext.Spaced(termtext.Piece(c.Method), termtext.Piece(c.Tool)))}
	if c.Failed {
		row = append(row, termtext.Red.Span(" failed"))
	}
	return line{spans: row, seq: c.Request}
}

// A numberForm is how a table of numbers is laid out.
type numberForm struct{ columns int } // of what stands before the numbers

func (form numberForm) heading(of, count, bytes string) line {
	return line{spans: []termtext.Span{termtext.Bold.Span(termtext.Pad(of, form.columns) +
		fmt.Sprintf("%8s %6s %8s %7s %7s %7s %7s", count, "failed", bytes, "p50", "p95", "p99", "max"))}}
}

// row tells of something with a name. It is where the slowest of its calls is; t
// is nil if there are none.
func (form numberForm) row(called string, count, failed int, bytes string, t *timing) line {
	l := line{spans: []termtext.Span{
		termtext.Plain.Span(termtext.Pad(termtext.Cut(termtext.Piece(called), form.columns), form.columns)),
		termtext.Plain.Span(fmt.Sprintf("%8s ", termtext.Grouped(int64(count)))),
		termtext.Plain.Span(fmt.Sprintf("%6s ", blankZero(failed))),
		termtext.Plain.Span(fmt.Sprintf("%8s ", bytes)),
	}}
	if failed > 0 {
		l.spans[2].Style = termtext.Red
	}
	if t != nil && len(t.each) > 0 {
		l.spans, l.seq = append(l.spans, termtext.Plain.Span(t.tell())), t.slowest
	}
	return l
}

func blankZero(n int) string {
	if n == 0 {
		return ""
	}
	return termtext.Grouped(int64(n))
}
