package tracepage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/page"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A bar is something that takes time in a turn.
type bar struct {
	seq         uint64
	label       string
	style       termtext.Style
	began, ends time.Duration
	open        bool // it has not ended
	untimed     bool // nobody knows how long it took
}

// Turns shows the turns of a session over time: what the agent said and did,
// and what it waited for. now is since the first tape began; 0 if none is recorded.
func (r *Reader) Turns(session string, width int, now time.Duration) []page.Line {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shownUpTo = r.last
	found := r.session(session)
	if found == nil || len(found.Conversation.Turns) == 0 {
		if !r.ended && r.last == 0 {
			return []page.Line{{Spans: []termtext.Span{termtext.Dim.Span("reading…")}}}
		}
		return []page.Line{{Spans: []termtext.Span{termtext.Dim.Span("There are no turns on this tape; its slowest calls are among the statistics (6).")}}}
	}
	lines := []page.Line{
		{Spans: []termtext.Span{termtext.Bold.Span(termtext.Dotted(termtext.Piece(found.Title), termtext.Piece(found.ID)))}},
		{Spans: []termtext.Span{termtext.Plain.Span(fills[termtext.Plain] + " says"), termtext.Dim.Span("  " + fills[termtext.Dim] + " thinks"), termtext.Cyan.Span("  " + fills[termtext.Cyan] + " tool call"), termtext.Yellow.Span("  " + fills[termtext.Yellow] + " waits for the client")}},
	}
	entities := map[int][]*trace.Entity{} // by turn
	for _, e := range found.Conversation.Entities {
		entities[e.Turn] = append(entities[e.Turn], e)
	}
	asked := slices.DeleteFunc(slices.Clone(r.trace.Calls), func(c *trace.Call) bool {
		return c.Session != found.ID || c.Dir != wire.AgentToClient
	})
	for _, t := range found.Conversation.Turns {
		for len(asked) > 0 && asked[0].Request < t.Prompt {
			asked = asked[1:]
		}
		lines = append(lines, page.Line{})
		lines = append(lines, r.turnLines(t, entities[t.Number], asked, width, now)...)
	}
	return lines
}

// turnLines shows one turn. asked are the agent's calls since it began, in order.
func (r *Reader) turnLines(t *trace.Turn, entities []*trace.Entity, asked []*trace.Call, width int, now time.Duration) []page.Line {
	ends := t.Ended
	running := now > 0 && r.isRunning(t)
	if running {
		ends = max(ends, now)
	}
	text := fmt.Sprintf("Turn %d", t.Number)
	var parts []string
	if !t.Untimed {
		parts = append(parts, termtext.Duration(ends-t.Began))
	}
	switch {
	case running:
		parts = append(parts, "running")
	case t.Open():
		parts = append(parts, "no end")
	case t.Error != nil:
		parts = append(parts, "error")
	default:
		parts = append(parts, termtext.Piece(t.StopReason))
	}
	if t.Cancelled && t.StopReason != "cancelled" {
		parts = append(parts, "cancelled by the client")
	}
	if t.Output != 0 && !t.Untimed {
		parts = append(parts, "first output after "+termtext.Duration(t.FirstOutput-t.Began))
	}
	look := termtext.Dim
	if t.Error != nil {
		look = termtext.Red
	} else if t.Open() {
		look = termtext.Yellow
	}
	lines := []page.Line{{Spans: []termtext.Span{termtext.Bold.Span(text + "  "), look.Span(termtext.Dotted(parts...))}, Seq: t.Prompt}}
	labels := min(max(width/3, 10), 40)
	columns := max(width-labels-tookColumns-2, 4)
	for _, l := range barsOf(t, entities, asked, ends) {
		lines = append(lines, page.Line{Spans: l.spans(t.Began, ends, labels, columns), Seq: l.seq})
	}
	return lines
}

// barsOf returns what happened in a turn, in order.
func barsOf(t *trace.Turn, entities []*trace.Entity, asked []*trace.Call, ends time.Duration) []bar {
	var bars []bar
	for _, e := range entities {
		if e.Run != t.Run || e.Replayed {
			continue
		}
		l := bar{seq: e.First, began: e.Began, ends: e.Ended, untimed: e.Untimed}
		switch {
		case e.ToolCall != nil:
			l.label, l.style = termtext.Piece(cmp.Or(e.ToolCall.Title, e.ToolCall.Name, e.ToolCall.ID)), termtext.Cyan
			if l.open = !e.ToolCall.Finished() && t.Open(); l.open {
				l.ends = ends
			}
			if e.ToolCall.Status == "failed" {
				l.style = termtext.Red
			}
		case e.Message != nil && e.Message.Role == trace.Agent:
			l.label, l.style = termtext.Piece(e.Message.Text()), termtext.Plain
		case e.Message != nil && e.Message.Role == trace.Thought:
			l.label, l.style = termtext.Piece(e.Message.Text()), termtext.Dim
		default:
			continue
		}
		bars = append(bars, l)
	}
	for _, c := range asked {
		if c.Run != t.Run || c.Began > ends {
			break
		}
		l := bar{seq: c.Request, label: termtext.Piece(c.Method), style: termtext.Yellow, began: c.Began, ends: c.Ended, untimed: c.Untimed}
		if c.Open() {
			l.open, l.ends = t.Open(), ends
		}
		bars = append(bars, l)
	}
	slices.SortStableFunc(bars, func(a, b bar) int { return cmp.Compare(a.began, b.began) })
	return bars
}

// spans draws a bar between two times.
func (l *bar) spans(from, to time.Duration, labels, columns int) []termtext.Span {
	at := func(d time.Duration) int {
		if to <= from {
			return 0
		}
		return min(max(int(int64(d-from)*int64(columns)/int64(to-from)), 0), columns-1)
	}
	begin, end := at(l.began), at(l.ends)
	took := ""
	switch {
	case l.untimed:
		took = termtext.UnknownTime
	case l.ends > l.began:
		took = termtext.Duration(l.ends - l.began)
	}
	if l.open {
		took = "… " + took
	}
	return []termtext.Span{
		l.style.Span(termtext.Pad(termtext.Cut(l.label, labels), labels) + " "),
		termtext.Plain.Span(strings.Repeat(" ", begin)),
		l.style.Span(strings.Repeat(fills[l.style], end-begin+1)),
		termtext.Plain.Span(strings.Repeat(" ", columns-1-end) + " "),
		termtext.Dim.Span(fmt.Sprintf("%*s", tookColumns, took)),
	}
}

// tookColumns are the columns of how long something took, or takes.
const tookColumns = 10

// The fills are what bars are drawn with: they can be told apart without colours too.
var fills = map[termtext.Style]string{termtext.Plain: "█", termtext.Dim: "░", termtext.Cyan: "▓", termtext.Red: "▓", termtext.Yellow: "▒"}
