package report

import (
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// lanes is a waterfall: each activity is a row, all on one time axis.
type lanes struct {
	ID    string // id of the element with the ticks
	Ticks []tick
	Rows  []*lane
}

// A lane is one step.
type lane struct {
	Kind   string // one of our own words
	Label  string
	Frame  frameRef
	Inside bool   // part of the row above: what that asked of the client or of a server
	Took   string // · for a single frame
	Wrong  string // what went wrong, in one word
	Grave  bool   // it failed
	Told   bool   // the story has an item for it
	Bars   []rect

	span  steps.Span
	class string
}

// source returns the data for the page's phases.
func (r *reader) source() steps.Source {
	return steps.Source{
		Trace: &r.trace, Calls: &r.calls,
		Start: func(run int) time.Time { return r.in.Tapes[run].Info.Start.Time },
		Until: func(run int) time.Duration { return r.ends[run] },
	}
}

// span returns the time span of a turn.
func (r *reader) span(t *trace.Turn) steps.Span {
	return steps.Span{Run: t.Run, From: t.Began, To: r.source().End(t)}
}

// lanes returns the rows of a phase: those of the entities in told, and as many calls at
// most.
func (r *reader) lanes(id string, p *steps.Phase, told []*trace.Entity) *lanes {
	whole := p.Span
	a := newAxis([]steps.Span{whole}, 0)
	l := &lanes{ID: "t-" + id, Ticks: a.ticks()}
	if row := r.modelLane(p, a); row != nil {
		l.Rows = append(l.Rows, row)
	}
	shown := map[*trace.Entity]bool{}
	for _, e := range told {
		shown[e] = true
	}
	calls := 0
	for _, s := range p.Steps {
		switch {
		case s.Entity != nil && !shown[s.Entity], s.Server != nil && s.Untimed:
			continue
		case s.Entity == nil:
			if calls++; calls > maxEntities {
				continue
			}
		}
		l.Rows = append(l.Rows, r.stepLane(s, p))
		l.Rows = append(l.Rows, r.below(s, p)...)
	}
	for _, row := range l.Rows {
		row.draw(a)
	}
	return l
}

// below returns the rows of what is below a step.
func (r *reader) below(s *steps.Step, p *steps.Phase) (rows []*lane) {
	for _, below := range s.Below[:min(len(s.Below), maxEntities)] {
		if below.Server == nil || !below.Untimed {
			row := r.stepLane(below, p)
			row.Inside = true
			rows = append(append(rows, row), r.below(below, p)...)
		}
	}
	return rows
}

// draw makes the bar of a row.
func (l *lane) draw(a *axis) {
	if l.Bars == nil {
		l.Bars = []rect{a.rect(l.span, l.class)}
	}
	l.Grave = strings.HasSuffix(l.class, " bad")
}

// modelLane returns the row of a turn's time waiting for the model, or nil if there is
// too little to see.
func (r *reader) modelLane(p *steps.Phase, a *axis) *lane {
	if p.Turn == nil {
		return nil
	}
	l := &lane{Kind: "waits", Label: "for the model", Frame: r.frame(p.Run, p.Frame), class: "model", span: steps.Span{Run: p.Run, From: p.From, To: p.From}}
	waited := time.Duration(0)
	for _, w := range p.Waits {
		if !w.Quiet {
			continue
		}
		waited += w.Took()
		s := steps.Span{Run: p.Run, From: w.From, To: w.To}
		if a.at(s.Run, s.To)-a.at(s.Run, s.From) >= thinnest {
			l.Bars = append(l.Bars, a.rect(s, l.class))
		}
	}
	if l.Bars == nil {
		return nil
	}
	l.Took = termtext.Duration(waited)
	return l
}

// kindLooks gives each kind of step its label and CSS class.
var kindLooks = [...]struct{ word, class string }{
	steps.SetUp: {"start", "start"}, steps.Starts: {"server", "mcp"}, steps.Thinks: {"thinks", "thinks"}, steps.Says: {"says", "says"},
	steps.Tool: {"asks", "tool"}, steps.Client: {"asks", "client"}, steps.User: {"waits", "waits"}, steps.Server: {"mcp", "mcp"},
}

// stepLane returns the row of a step.
func (r *reader) stepLane(s *steps.Step, p *steps.Phase) *lane {
	look := kindLooks[s.Kind]
	l := &lane{Kind: look.word, Label: termtext.Brief(s.Text(), 160), Frame: r.frame(s.Run, s.Frame), span: s.Span, class: look.class}
	l.Took = took(s.Took(), s.Single())
	if s.Untimed {
		l.span.From, l.span.To = p.From, p.From
	}
	switch {
	case s.Entity != nil:
		l.entity(s.Entity, p.Turn)
	case s.Server != nil:
		l.Frame = r.serverFrame(s.Server.Tape.ID, s.Server.Request)
		if s.Open {
			l.Took = "–"
		}
		if s.Server.Cancelled {
			l.Wrong = "cancelled"
		}
	case s.Starts != nil:
		l.Frame = r.serverFrame(s.Starts.ID, 1)
	}
	switch {
	case l.Wrong != "" || s.Entity != nil:
	case s.Open:
		l.Wrong = "no answer"
	case s.Call != nil && s.Call.Refused:
		l.Wrong = "rejected"
	}
	if s.Failed {
		l.class += " bad"
		if l.Wrong == "" {
			l.Wrong = "failed"
		}
	}
	return l
}

// took formats the time that a step took.
func took(t time.Duration, single bool) string {
	if single || t == 0 {
		return "·"
	}
	return termtext.Duration(t)
}

// entity adds what is known about an entity of the agent.
func (l *lane) entity(e *trace.Entity, t *trace.Turn) {
	l.Told = true
	switch {
	case e.ToolCall != nil:
		l.Kind = kindOf(e.ToolCall).Word
		if s := toolState(e.ToolCall, t.Open()); s.Word != "completed" {
			l.Wrong = s.Word
		}
		if !e.ToolCall.Finished() {
			l.Took = "–"
		}
	case e.Subagent != nil:
		l.Kind = "agent"
		if o := e.Subagent.Outcome(); o.How != dialect.Done {
			l.Wrong = o.How.String()
		}
	case e.Terminal != nil:
		l.Kind = "run"
	case e.Plan != nil:
		l.Kind = "plan"
	case e.Compaction != nil:
		l.Kind = "agent"
	}
}

// A startUp is what came before the first turn on a tape.
type startUp struct {
	ID     string
	Took   string
	Shares []share
	Lanes  *lanes

	span steps.Span
}

// startUp returns what preceded a turn, or nil if nothing did or its time is unknown.
func (r *reader) startUp(c *chapter, t *trace.Turn) *startUp {
	p := c.steps.StartUp(t)
	if p == nil || p.Untimed {
		return nil
	}
	one := &startUp{ID: strings.Replace(c.turnID(t), "turn", "start", 1), Took: termtext.Duration(p.To - p.From), span: p.Span}
	one.Lanes, one.Shares = r.lanes(one.ID, p, nil), shares(p.Spend(), 0)
	return one
}

// drawn returns a start-up on an axis.
func (s *startUp) drawn(a *axis) stripTurn {
	return stripTurn{Link: s.ID, Title: "start-up, " + s.Took, Back: a.rect(s.span, ""), Bars: []stripBar{{a.rect(s.span, "start"), "4", "46"}}}
}

// spansOf returns the spans of start-ups.
func spansOf(list map[int]*startUp) (spans []steps.Span) {
	for _, s := range list {
		spans = append(spans, s.span)
	}
	slices.SortFunc(spans, func(a, b steps.Span) int { return a.Run - b.Run })
	return spans
}
