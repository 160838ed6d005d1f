package tracepage

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace/steps"
)

// A mark says how part of a bar is drawn. Where two share a column, the greater one is
// drawn.
type mark uint8

const (
	nothing mark = iota
	waiting      // for the model, while nothing else is in progress
	silent       // for a long time
	thinking
	saying
	tool
	service // the agent uses the client
	asking  // asking the user
	starting
	server // a server works on a call from the agent
	marks
)

// signs are the marks' characters. They differ without colours too.
var signs = [marks]struct {
	sign  rune
	style termtext.Style
	says  string // in the legend
}{
	nothing:  {' ', termtext.Plain, ""},
	waiting:  {'┄', termtext.Dim, "waits"},
	silent:   {'╍', termtext.Permission, "silent"},
	thinking: {'░', termtext.Conversation, "thinks"},
	saying:   {'█', termtext.Conversation, "says"},
	tool:     {'▓', termtext.Tools, "tool"},
	service:  {'▄', termtext.Services, "client"},
	asking:   {'▒', termtext.Permission, "asks you"},
	starting: {'═', termtext.LifeCycle, "start-up"},
	server:   {'▞', termtext.Servers, "server"},
}

// A bar represents something that takes time.
type bar struct {
	steps.Span
	seq     uint64 // the frame at which it begins
	label   []termtext.Span
	mark    mark
	failed  bool
	open    bool // it has not ended
	zero    bool // its duration is shown even if it is 0
	untimed bool // its duration is unknown
	took    time.Duration
	parts   []barPart

	tape    string // of the server that the bar concerns; empty: none
	tapeSeq uint64 // frame on that tape
}

// barOf returns a step's bar, without its label.
func barOf(s *steps.Step, m mark) bar {
	return bar{Span: s.Span, seq: s.Frame, mark: m, failed: s.Failed, open: s.Open, untimed: s.Untimed, took: s.Took()}
}

// A barPart is a part of a bar that is drawn differently.
type barPart struct {
	steps.Span
	mark   mark
	failed bool
}

// tookText says how long the bar took, or has taken so far.
func (b *bar) tookText() string {
	took := ""
	switch {
	case b.untimed:
		took = termtext.UnknownTime
	case b.took > 0 || b.zero:
		took = termtext.Duration(b.took)
	}
	if b.open {
		took = "… " + took
	}
	return took
}

// tookColumns is the width of durations.
const tookColumns = 9

// A chart draws bars on one axis.
type chart struct {
	*axis
	labels int // width of the labels
}

// row returns a bar's line.
func (c chart) row(b *bar) []termtext.Span {
	label := append(termtext.FitSpans(b.label, c.labels), termtext.Plain.Span(" "))
	return append(append(label, c.bar(b)...), termtext.Dim.Span(fmt.Sprintf("%*s", tookColumns, b.tookText())))
}

// bar draws a bar, followed by a blank.
func (c chart) bar(b *bar) []termtext.Span {
	cells := make([]barPart, c.columns)
	draw := func(of steps.Span, m mark, failed bool) {
		if !c.has(of) {
			return
		}
		from, to := c.column(of.Run, of.From), c.column(of.Run, of.To)
		if p := c.part(of.Run, of.To); p >= 0 && of.To > of.From && to > from && c.parts[p].From == of.To {
			to-- // it ends where a part begins
		}
		for x := from; x <= to; x++ {
			if m >= cells[x].mark {
				cells[x] = barPart{mark: m, failed: failed || m == cells[x].mark && cells[x].failed}
			}
		}
	}
	if !b.untimed {
		draw(b.Span, b.mark, b.failed)
		for _, p := range b.parts {
			draw(p.Span, p.mark, p.failed)
		}
	}
	line := make([]termtext.Span, 0, 8)
	put := func(style termtext.Style, sign rune) {
		if n := len(line); n > 0 && line[n-1].Style == style {
			line[n-1].Text += string(sign)
			return
		}
		line = append(line, style.Span(string(sign)))
	}
	for _, cell := range cells {
		s := signs[cell.mark]
		if cell.failed {
			s.style = termtext.Failure
		}
		put(s.style, s.sign)
	}
	put(termtext.Plain, ' ')
	return line
}
