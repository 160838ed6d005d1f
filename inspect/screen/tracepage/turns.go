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

// Turns lays out how a session spent its time: each start-up and each turn, with their steps,
// either on a separate time axis each or on a common one.
type Turns struct {
	reader *Reader
	wanted func() string
	now    func() time.Duration
	alone  uint64 // the prompt of the only turn shown; 0: all are shown
	joint  bool   // all turns are on one axis
	zoom   zoom

	drawn []drawnBar // by Item of the lines last returned
	known known
}

// The known phases are the last ones made, with what they were made from.
type known struct {
	of     any
	phases []*phase
}

// A drawnPhase is a phase with its axis. Most phases are never on the screen, so the axis is
// made only when the phase is shown.
type drawnPhase struct {
	*Turns
	phases  []*phase
	i       int
	columns int
	labels  int
	chart   chart // made if axis is set
}

// A zoom is the visible part of an axis. The zero value shows all of it.
type zoom struct {
	phase uint64 // as in drawnBar
	steps.Span
}

// A drawnBar is a bar with its axis.
type drawnBar struct {
	phase uint64     // first frame of the phase that the axis is for; 0: the common axis
	whole steps.Span // of the axis; with several tapes, of the bar's tape
	steps.Span

	bar *bar // nil: the line of the ticks
	on  *drawnPhase
}

// NewTurns returns the turns of the session that wanted returns. now returns the time
// since the first tape began, or 0 if none is being recorded.
func NewTurns(r *Reader, wanted func() string, now func() time.Duration) *Turns {
	return &Turns{reader: r, wanted: wanted, now: now}
}

// State returns everything that the lines depend on, except the width.
func (t *Turns) State() any {
	return [6]any{t.reader.Revision(), t.wanted(), t.now(), t.alone, t.joint, t.zoom}
}

// Lines returns the turns. Below the first line are the ticks of the axis if there is one for
// all.
func (t *Turns) Lines(width int) []page.Line {
	r := t.reader
	r.mu.Lock()
	defer r.mu.Unlock()
	session := r.session(t.wanted())
	if session == nil || len(session.Conversation.Turns) == 0 {
		return r.without("There are no turns on this tape; its slowest calls are among the statistics (6).", width)
	}
	r.shownUpTo = r.last
	if of := [3]any{r.revision, session, t.now()}; t.known.of != of {
		t.known = known{of, r.phases(session, t.now())}
	}
	phases := t.known.phases
	if alone := slices.IndexFunc(phases, func(p *phase) bool { return p.seq == t.alone }); alone >= 0 {
		phases = phases[alone : alone+1]
	}
	labels := min(max(width/3, 10), 48)
	columns := max(width-labels-tookColumns-2, 4)
	c := chart{&axis{columns: columns}, labels}
	head := r.head(session, width)
	lines := head[:1:1]
	if t.joint {
		c.axis = newAxis(t.visible(0, phases), columns)
		lines = append(lines, page.Line{Spans: termtext.Dim.Line(strings.Repeat(" ", labels+1) + strings.TrimRight(c.heading(), " ")), Heading: page.Stays})
	}
	for _, l := range head[1:] {
		if l.Heading == page.StaysIfRoom {
			lines = append(lines, l)
		}
	}
	blank := page.Line{Spans: []termtext.Span{}} // nothing needs to be drawn later
	lines = append(lines, page.Line{Spans: legend(width, phases)})
	if text := waitedFor(phases); t.alone != 0 && text != "" { // for all turns, the head says it
		lines = append(lines, page.Line{Spans: []termtext.Span{termtext.Dim.Span(text)}})
	}
	t.drawn = t.drawn[:0]
	wholes := map[int]steps.Span{} // by tape
	for i, p := range phases {
		if wholes[p.Run].To == 0 {
			wholes[p.Run] = whole(phases, p.Run)
		}
		of := drawnBar{whole: wholes[p.Run]}
		if t.joint {
			of.on = &drawnPhase{Turns: t, phases: phases, i: i, chart: c}
			lines = append(lines, c.between(phases, i))
		} else {
			of = drawnBar{phase: p.seq, whole: p.Span, on: &drawnPhase{Turns: t, phases: phases, i: i, columns: columns, labels: labels}}
			lines = append(lines, blank, page.Line{Section: true, Item: len(t.drawn)})
			t.drawn = append(t.drawn, of)
		}
		add := func(b *bar) {
			of.Span, of.bar = b.Span, b
			l := page.Line{Seq: b.seq, Tape: b.tape, TapeSeq: b.tapeSeq, Item: len(t.drawn)}
			if l.Tape != "" {
				l.Key = fmt.Sprintf("%s:%d", l.Tape, l.TapeSeq)
			}
			t.drawn, lines = append(t.drawn, of), append(lines, l)
		}
		add(&p.bar)
		for _, b := range p.bars {
			add(b)
		}
	}
	return lines
}

// Late returns the ticks of a phase, or a bar.
func (t *Turns) Late(item, _ int) []termtext.Span {
	d := &t.drawn[item]
	c := d.on.made()
	if d.bar == nil {
		return c.ticks(d.on.phases, d.on.i)
	}
	return c.row(d.bar)
}

// Above returns the line that stays at the top while lines of a phase are visible: the
// phase's name and its ticks.
func (t *Turns) Above(item, _ int) []termtext.Span {
	on := t.drawn[item].on
	c := on.made()
	label := append(termtext.FitSpans(on.phases[on.i].label, c.labels), termtext.Plain.Span(" "))
	return append(label, termtext.Dim.Span(strings.TrimRight(c.heading(), " ")))
}

// made returns the phase's chart.
func (d *drawnPhase) made() chart {
	if d.chart.axis == nil {
		p := d.phases[d.i]
		d.chart = chart{newAxis(d.visible(p.seq, d.phases[d.i:d.i+1]), d.columns), d.labels}
		d.chart.zero = p.From
	}
	return d.chart
}

// whole returns the time from the first to the last phase on a tape.
func whole(phases []*phase, run int) steps.Span {
	all := steps.Span{Run: run, From: -1}
	for _, p := range phases {
		if p.Run == run && !p.untimed {
			if all.From < 0 {
				all.From = p.From
			}
			all.To = max(all.To, p.To)
		}
	}
	return all
}

// visible returns the intervals of phases that their axis shows.
func (t *Turns) visible(phase uint64, phases []*phase) (busy []steps.Span) {
	for _, p := range phases {
		of := p.Span
		if z := t.zoom; z.To > z.From && z.phase == phase {
			if of.Run != z.Run {
				continue
			}
			of.From, of.To = max(of.From, z.From), min(of.To, z.To)
		}
		if !p.untimed && of.From <= of.To {
			busy = append(busy, of)
		}
	}
	return busy
}

// IsJoint reports whether all turns are on one axis.
func (t *Turns) IsJoint() bool { return t.joint }

// Join puts all turns on one axis, or each on its own.
func (t *Turns) Join() { t.joint, t.zoom = !t.joint, zoom{} }

// Zoom halves the visible part of a line's axis, centred on the line's subject, or doubles
// it. It reports whether that is possible.
func (t *Turns) Zoom(l page.Line, in bool) bool {
	b, shown, ok := t.shown(l)
	if !ok {
		return false
	}
	took := 2 * (shown.To - shown.From)
	middle := shown.From + (shown.To-shown.From)/2
	if in {
		took /= 4
		middle = min(max(b.From+(b.To-b.From)/2, shown.From), shown.To)
	}
	switch {
	case in && took < minZoom, !in && shown == b.whole:
		return false
	case took >= b.whole.To-b.whole.From:
		t.zoom = zoom{}
		return true
	}
	t.zoom = zoom{b.phase, within(steps.Span{Run: b.Run, From: middle - took/2, To: middle - took/2 + took}, b.whole)}
	return true
}

// minZoom is the shortest time that an axis shows.
const minZoom = 10 * time.Microsecond

// Pan moves the visible part of an axis by a quarter.
func (t *Turns) Pan(l page.Line, later bool) {
	b, shown, ok := t.shown(l)
	if !ok || t.zoom == (zoom{}) || t.zoom.phase != b.phase {
		return
	}
	by := (shown.To - shown.From) / 4
	if !later {
		by = -by
	}
	shown.From, shown.To = shown.From+by, shown.To+by
	t.zoom.Span = within(shown, b.whole)
}

// shown returns a line's bar, and which part of its axis is visible.
func (t *Turns) shown(l page.Line) (b drawnBar, part steps.Span, ok bool) {
	if l.Seq == 0 || l.Item >= len(t.drawn) {
		return drawnBar{}, steps.Span{}, false
	}
	b = t.drawn[l.Item]
	if z := t.zoom; z.To > z.From && z.phase == b.phase && z.Run == b.Run {
		return b, z.Span, true
	}
	return b, b.whole, true
}

// within shifts an interval so that it lies inside a longer one.
func within(part, whole steps.Span) steps.Span {
	by := max(whole.From-part.From, 0) - max(part.To-whole.To, 0)
	part.From, part.To = part.From+by, part.To+by
	return part
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

// waitedFor says what some of the turns waited for. For all turns, the summary says it.
func waitedFor(phases []*phase) string {
	var spent trace.Spend
	for _, p := range phases {
		if p.of.Turn != nil && !p.untimed {
			spent = spent.Plus(p.of.Turn.Spend(p.To))
		}
	}
	return stats.WaitedText(spent)
}

// ticks returns the line above a phase on its own axis: when the phase began, how long the
// session had been idle, and the ticks, which count from there.
func (c chart) ticks(phases []*phase, i int) []termtext.Span {
	p := phases[i]
	when := ""
	if !p.untimed && p.From > 0 && p.Run == 0 {
		when = "at " + termtext.Duration(p.From)
	}
	if i > 0 {
		before := phases[i-1]
		switch idle := p.From - before.To; {
		case before.Run != p.Run:
			when = termtext.Dotted("next tape", when)
		case !before.untimed && !p.untimed && idle > 0:
			when = termtext.Dotted(when, "idle "+termtext.Duration(idle))
		}
	}
	when = termtext.Pad(termtext.Cut(when, c.labels), c.labels)
	return termtext.Dim.Line(when + " " + strings.TrimRight(c.heading(), " "))
}

// between returns the line above a phase, which says how long the session was idle.
func (c chart) between(phases []*phase, i int) page.Line {
	if i == 0 {
		return page.Line{Spans: []termtext.Span{}}
	}
	before, p := phases[i-1], phases[i]
	text := "next tape"
	if before.Run == p.Run {
		if before.untimed || p.untimed || c.part(p.Run, before.To) == c.part(p.Run, p.From) {
			return page.Line{Spans: []termtext.Span{}}
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
