package tracepage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// Turns lays out what a session spent its time on: each start-up and each turn, with
// their steps, on a single time axis.
type Turns struct {
	reader *Reader
	wanted func() string
	now    func() time.Duration
	alone  uint64 // the prompt of the only turn shown; 0: all are shown
}

// NewTurns returns the turns of the session that wanted returns. now returns the time
// since the first tape began, or 0 if none is being recorded.
func NewTurns(r *Reader, wanted func() string, now func() time.Duration) *Turns {
	return &Turns{reader: r, wanted: wanted, now: now}
}

// State returns everything that the lines depend on, except the width.
func (t *Turns) State() any { return [4]any{t.reader.Revision(), t.wanted(), t.now(), t.alone} }

// Lines returns the turns. The heading has the axis ticks.
func (t *Turns) Lines(width int) []page.Line {
	r := t.reader
	r.mu.Lock()
	defer r.mu.Unlock()
	session := r.session(t.wanted())
	if session == nil || len(session.Conversation.Turns) == 0 {
		return r.nothing("There are no turns on this tape; its slowest calls are among the statistics (6).")
	}
	r.shownUpTo = r.last
	phases := r.phases(session, t.now())
	if alone := slices.IndexFunc(phases, func(p *phase) bool { return p.seq == t.alone }); alone >= 0 {
		phases = phases[alone : alone+1]
	}
	var busy []steps.Span
	for _, p := range phases {
		if !p.untimed {
			busy = append(busy, p.Span)
		}
	}
	labels := min(max(width/3, 10), 48)
	c := chart{newAxis(busy, max(width-labels-tookColumns-2, 4)), labels}
	title := termtext.Cut(termtext.Dotted(termtext.Piece(session.Title), termtext.Piece(session.ID)), labels)
	lines := []page.Line{
		{Spans: []termtext.Span{termtext.Bold.Span(termtext.Pad(title, labels) + " "), termtext.Dim.Span(c.heading())}, Heading: true},
		{Spans: legend(width, phases)},
	}
	if text := waitedFor(phases); text != "" {
		lines = append(lines, page.Line{Spans: []termtext.Span{termtext.Dim.Span(text)}})
	}
	for i, p := range phases {
		lines = append(lines, c.between(phases, i))
		lines = append(lines, page.Line{Spans: c.row(&p.bar), Seq: p.seq})
		for _, b := range p.bars {
			b.label = slices.Insert(b.label, 0, termtext.Plain.Span("  "))
			l := page.Line{Spans: c.row(b), Seq: b.seq, Tape: b.tape, TapeSeq: b.tapeSeq}
			if l.Tape != "" {
				l.Key = fmt.Sprintf("%s:%d", l.Tape, l.TapeSeq)
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// Isolate shows only the turn that a line belongs to, or all turns again.
func (t *Turns) Isolate(l page.Line) (alone bool) {
	if t.alone != 0 {
		t.alone = 0
		return false
	}
	t.reader.mu.Lock()
	defer t.reader.mu.Unlock()
	session := t.reader.session(t.wanted())
	if session == nil {
		return false
	}
	for _, turn := range session.Conversation.Turns {
		if t.alone == 0 || turn.Prompt <= l.Seq {
			t.alone = turn.Prompt
		}
	}
	return t.alone != 0
}

// legend explains the phases' marks.
func legend(width int, phases []*phase) []termtext.Span {
	last := server
	for _, p := range phases {
		if slices.ContainsFunc(p.bars, func(b *bar) bool { return b.mark == server }) {
			last = marks
		}
	}
	var line []termtext.Span
	for _, gap := range []string{"   ", "  ", " "} {
		line = nil
		for _, s := range signs[waiting:last] {
			if line != nil {
				line = append(line, termtext.Plain.Span(gap))
			}
			line = append(line, s.style.Span(string(s.sign)), termtext.Dim.Span(" "+s.says))
		}
		if termtext.SpansWidth(line) <= width {
			break
		}
	}
	return line
}

// waitedFor describes what the turns' time was spent on.
func waitedFor(phases []*phase) string {
	var spent trace.Spend
	for _, p := range phases {
		if p.of.Turn != nil && !p.untimed {
			spent = spent.Plus(p.of.Turn.Spend(p.To))
		}
	}
	return stats.WaitedText(spent)
}

// between returns the line above a phase, which says how long the session was idle.
func (c chart) between(phases []*phase, i int) page.Line {
	if i == 0 {
		return page.Line{}
	}
	before, p := phases[i-1], phases[i]
	text := "next tape"
	if before.Run == p.Run {
		if before.untimed || p.untimed || c.part(p.Run, before.To) == c.part(p.Run, p.From) {
			return page.Line{}
		}
		text = "idle " + termtext.Duration(p.From-before.To)
	}
	at := c.column(p.Run, p.From) - 1
	if termtext.Width(text)+2 > c.columns-at {
		at -= termtext.Width(text) + 1
		text += " " + string(cutSign)
	} else {
		text = string(cutSign) + " " + text
	}
	return page.Line{Spans: []termtext.Span{termtext.Dim.Span(strings.Repeat(" ", max(c.labels+1+at, 0)) + text)}}
}
