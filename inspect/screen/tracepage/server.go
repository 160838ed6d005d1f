package tracepage

import (
	"fmt"
	"slices"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// callLines returns the lines shown below an entity in a conversation: the server calls
// that it led to.
func (c *Conversation) callLines(session string, e *trace.Entity) []page.Line {
	var lines []page.Line
	room := max(c.width-len(margin)-len(margin), 1)
	add := func(span termtext.Span) *page.Line {
		span.Text = termtext.Cut(span.Text, room)
		lines = append(lines, page.Line{Spans: []termtext.Span{termtext.Plain.Span(margin + margin), span}, Seq: e.First})
		return &lines[len(lines)-1]
	}
	calls := &c.reader.history.Calls
	for _, one := range calls.Of(e) {
		l := add(one.Line())
		l.Key = fmt.Sprintf("%s:%d", one.Tape.ID, one.Request)
		if one.Tape.Hosted() {
			l.Seq = one.Request
		} else {
			l.Tape, l.TapeSeq = one.Tape.ID, one.Request
		}
	}
	if e.ToolCall != nil {
		if why := calls.Missing(session, e); why != nested.NotMissing {
			add(termtext.Dim.Span("↳ " + why.String()))
		}
	}
	return lines
}

// counted caches the durations of servers' calls, as of a given number of their frames.
type counted struct {
	upTo  int
	tapes []*nested.Tape
	list  []stats.Named
}

// calls returns the durations of the calls on tapes. upTo is the number of their frames
// that were read.
func (c *counted) calls(upTo int, tapes []*nested.Tape) []stats.Named {
	if c.upTo != upTo || !slices.Equal(c.tapes, tapes) {
		var calls stats.ServerCalls
		for i, t := range tapes {
			calls.Add(t, i)
		}
		*c = counted{upTo, slices.Clone(tapes), calls.List()}
	}
	return c.list
}

// serverLines returns a table of the agent's servers.
func (r *Reader) serverLines(form tableForm) []page.Line {
	list := r.counted.calls(r.revision.nested, r.history.Calls.Tapes)
	if len(list) == 0 {
		return nil
	}
	lines := []page.Line{{}, form.heading("Server", "calls", "")}
	for _, one := range list[:min(len(list), maxTools)] {
		l := r.row(form, termtext.Plain.Span(one.Name), one.Total(), one.Failed, "", one.Timing)
		l.Seq = 0
		switch t := r.history.Calls.Tapes[one.Slowest.Run]; {
		case one.Took.Count() == 0:
		case t.Hosted():
			l.Seq = one.Slowest.Seq
		default:
			l.Tape, l.TapeSeq = t.ID, one.Slowest.Seq
		}
		lines = append(lines, l)
	}
	return append(lines, moreLine(len(list))...)
}
