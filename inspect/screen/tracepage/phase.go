package tracepage

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
	"github.com/acptap/acptap/record/trace/steps"
)

// A phase is a start-up or a turn as drawn, with the bars below it.
type phase struct {
	bar
	of   *steps.Phase
	bars []*bar
}

// source returns the phases' source. now is 0 if no tape is being recorded.
func (r *Reader) source(now time.Duration) steps.Source {
	return steps.Source{
		Trace: &r.history.Trace, Calls: &r.history.Calls,
		Start: func(int) time.Time { return r.start },
		Until: func(run int) time.Duration {
			if run == r.tapes-1 && !r.ended {
				return max(now, r.ends[run])
			}
			return r.ends[run]
		},
	}
}

// phases returns what a session spent its time on, in order.
func (r *Reader) phases(session *trace.Session, now time.Duration) []*phase {
	of := r.source(now).Session(session)
	var list []*phase
	for _, one := range of.Phases() {
		p := &phase{of: one, bar: barOf(&one.Step, waiting)}
		if one.Turn == nil {
			p.mark = nothing
			p.label = []termtext.Span{termtext.Bold.Span("Start-up")}
			if r.tapes > 1 {
				p.label = append(p.label, termtext.Dim.Span(fmt.Sprintf("  tape %d", one.Run+1)))
			}
		} else {
			p.zero = true
			p.label = r.turnLabel(one.Turn, of.Prompt(one.Turn.Number))
			p.bars = append(p.bars, firstOutput(one))
		}
		for _, w := range one.Waits {
			if w.Quiet && one.Turn != nil && w.Took() >= dialect.SilentLimit {
				p.parts = append(p.parts, barPart{steps.Span{Run: one.Run, From: w.From, To: w.To}, silent, false})
			}
		}
		for _, s := range one.Steps {
			p.add(s, "")
		}
		for _, b := range p.bars {
			b.label = slices.Insert(b.label, 0, termtext.Plain.Span("  "))
		}
		list = append(list, p)
	}
	return list
}

// failedSign precedes the label of a step that failed.
const failedSign = "✗ "

// kindMarks maps kinds of steps to marks.
var kindMarks = [...]mark{
	steps.SetUp: starting, steps.Starts: server, steps.Thinks: thinking, steps.Says: saying,
	steps.Tool: tool, steps.Client: service, steps.User: asking, steps.Server: server,
}

// add adds a step, followed by the steps below it.
func (p *phase) add(s *steps.Step, indent string) {
	b := barOf(s, kindMarks[s.Kind])
	text := cmp.Or(termtext.Piece(s.Text()), "untitled")
	switch {
	case s.Starts != nil:
		text += " starts"
	case s.Server != nil && s.Server.By == nested.NoEvidence:
		text = "· " + text
	case s.Server != nil:
		text = "↳ " + text
	}
	if c := s.Server; c != nil && c.Tape.Hosted() {
		b.seq = c.Request
	} else if c != nil {
		b.tape, b.tapeSeq = c.Tape.ID, c.Request
	}
	if b.failed {
		text = failedSign + text
	}
	b.label = []termtext.Span{termtext.Plain.Span(indent), labelStyle(&b).Span(text)}
	if s.Entity != nil && s.Entity.Message != nil {
		p.pause(&b)
	}
	if !b.untimed && b.parts == nil && b.mark != server {
		p.parts = append(p.parts, barPart{b.Span, b.mark, b.failed})
	}
	p.parts = append(p.parts, b.parts...)
	p.bars = append(p.bars, &b)
	for _, below := range s.Below {
		p.add(below, indent+"  ")
	}
}

// pause draws the waits for the model within a message.
func (p *phase) pause(b *bar) {
	said := b.mark
	from := b.From
	for _, w := range p.of.Waits {
		if !w.Quiet || w.From < b.From || w.To > b.To {
			continue
		}
		b.parts = append(b.parts, barPart{steps.Span{Run: b.Run, From: from, To: w.From}, said, false})
		if w.Took() >= dialect.SilentLimit {
			b.parts = append(b.parts, barPart{steps.Span{Run: b.Run, From: w.From, To: w.To}, silent, false})
		}
		from = w.To
	}
	if b.parts != nil {
		b.mark, b.parts = waiting, append(b.parts, barPart{steps.Span{Run: b.Run, From: from, To: b.To}, said, false})
	}
}

// turnLabel returns a turn's outcome and prompt.
func (r *Reader) turnLabel(t *trace.Turn, prompt string) []termtext.Span {
	outcome := tapetext.OutcomeSpan(t.Outcome)
	if t.Open() {
		outcome.Style = termtext.Permission
	}
	if t.Cancelled && t.Outcome.How != dialect.Cancelled {
		outcome.Text = termtext.Dotted(outcome.Text, "cancelled by the client")
	}
	label := []termtext.Span{termtext.Bold.Span(fmt.Sprintf("Turn %d  ", t.Number)), outcome}
	if prompt != "" {
		label = append(label, termtext.Dim.Span(" · "+termtext.Piece(termtext.Unmarked(prompt))))
	}
	return label
}

// firstOutput returns the bar for the wait until the model's first output.
func firstOutput(p *steps.Phase) *bar {
	t := p.Turn
	b := &bar{Span: steps.Span{Run: t.Run, From: t.Began, To: t.FirstOutput}, seq: t.Output, mark: waiting, untimed: t.Untimed}
	text := "first output"
	if t.Output == 0 {
		text = "no output"
		b.To, b.seq, b.open = p.To, max(t.End, t.Prompt), p.Open
	}
	b.took = b.To - b.From
	b.label = []termtext.Span{termtext.Dim.Span(text)}
	return b
}

// labelStyle returns the style of a bar's label, which matches the bar's mark.
func labelStyle(b *bar) termtext.Style {
	switch {
	case b.failed:
		return termtext.Failure
	case b.mark == waiting, b.mark == thinking:
		return termtext.Dim
	case b.mark == saying:
		return termtext.Plain
	}
	return signs[b.mark].style
}
