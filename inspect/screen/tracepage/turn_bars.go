package tracepage

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// turnPhase returns a turn. asked are the agent's calls since it began, in order.
func (r *Reader) turnPhase(session *trace.Session, t *trace.Turn, entities []*trace.Entity, asked []*trace.Call, now time.Duration) *phase {
	p := &phase{turn: t, bar: bar{interval: interval{t.Run, t.Began, t.Ended}, seq: t.Prompt, mark: waiting, untimed: t.Untimed}}
	if now > 0 && r.isRunning(t) {
		p.to, p.open = max(p.to, now), true
	}
	p.bars = r.barsOf(session, p, entities, asked)
	for _, b := range p.bars {
		switch {
		case b.untimed:
		case b.parts != nil:
			p.parts = append(p.parts, b.parts...)
		case b.mark == waiting:
		default:
			m := b.mark
			if b.waits {
				m = tool
			}
			p.parts = append(p.parts, barPart{b.interval, m, b.failed})
		}
	}
	p.parts = append(p.parts, silences(r.pauses.within(session.ID, p.interval))...)
	p.label = r.turnLabel(p, entities)
	return p
}

// silences returns the pauses that are slow. What else went on meanwhile is drawn over them.
func silences(pauses []interval) []barPart {
	var list []barPart
	for _, p := range pauses {
		if p.to-p.from >= dialect.SilentLimit {
			list = append(list, barPart{p, silent, false})
		}
	}
	return list
}

// turnLabel says how a turn stands, and what it was about.
func (r *Reader) turnLabel(p *phase, entities []*trace.Entity) []termtext.Span {
	t, look := p.turn, termtext.Dim
	var state string
	switch {
	case p.open:
		state, look = "running", termtext.Permission
	case t.Open():
		state, look = "no end", termtext.Failure
	case t.Error != nil:
		state, look = "error", termtext.Failure
	default:
		state = termtext.Piece(t.StopReason)
	}
	if t.Cancelled && t.StopReason != "cancelled" {
		state = termtext.Dotted(state, "cancelled by the client")
	}
	label := []termtext.Span{termtext.Bold.Span(fmt.Sprintf("Turn %d  ", t.Number)), look.Span(state)}
	for _, e := range entities {
		if e.Message != nil && e.Message.Role == trace.User {
			return append(label, termtext.Dim.Span(" · "+termtext.Piece(e.Message.Text())))
		}
	}
	return label
}

// barsOf returns what went on in a turn, in order.
func (r *Reader) barsOf(session *trace.Session, p *phase, entities []*trace.Entity, asked []*trace.Call) []*bar {
	t := p.turn
	bars := []*bar{}
	if b := firstOutput(p); b != nil {
		bars = append(bars, b)
	}
	choices := trace.Permissions(entities)
	for _, e := range entities {
		if e.Run == t.Run && !e.Replayed {
			calls := r.callBars(p, e)
			if b := r.entityBar(session, p, e); b != nil {
				b.below = calls
				bars = append(bars, b)
			} else {
				bars = append(bars, calls...)
			}
		}
	}
	for _, c := range asked {
		if c.Run != t.Run || c.Began > p.to || !t.Open() && c.Request > t.End {
			break
		}
		bars = append(bars, r.callBar(p, c, choices[c.Request]))
	}
	slices.SortStableFunc(bars, func(a, b *bar) int { return cmp.Compare(a.from, b.from) })
	return bars
}

// firstOutput returns how long the model was waited for, until it began to answer.
func firstOutput(p *phase) *bar {
	t := p.turn
	b := &bar{interval: interval{t.Run, t.Began, t.FirstOutput}, seq: t.Output, mark: waiting, untimed: t.Untimed}
	text := "first output"
	if t.Output == 0 {
		text = "no output"
		b.to, b.seq, b.open = p.to, t.Prompt, p.open
		if t.End != 0 {
			b.seq = t.End
		}
	}
	b.label = []termtext.Span{termtext.Dim.Span(text)}
	return b
}

// entityBar returns what the agent said or did, nil for what is neither.
func (r *Reader) entityBar(session *trace.Session, p *phase, e *trace.Entity) *bar {
	b := &bar{interval: interval{e.Run, e.Began, e.Ended}, seq: e.First, untimed: e.Untimed}
	var text string
	switch {
	case e.ToolCall != nil:
		b.mark, b.failed = tool, e.ToolCall.Status == "failed"
		text = cmp.Or(e.ToolCall.Title, e.ToolCall.Name, e.ToolCall.ID)
		if !e.ToolCall.Finished() && p.turn.Open() {
			b.to, b.open = max(b.to, p.to), true
		}
	case e.Message != nil && e.Message.Role == trace.Agent:
		b.mark, text = saying, e.Message.Text()
	case e.Message != nil && e.Message.Role == trace.Thought:
		b.mark, text = thinking, e.Message.Text()
	default:
		return nil
	}
	b.label = []termtext.Span{labelStyle(b).Span(termtext.Piece(text))}
	if e.ToolCall == nil {
		if found := r.pauses.within(session.ID, b.interval); found != nil {
			for _, part := range without(b.interval, found) {
				b.parts = append(b.parts, barPart{part, b.mark, false})
			}
			b.mark = waiting
			b.parts = append(b.parts, silences(found)...)
		}
	}
	return b
}

// callBar returns a call of the agent's. asked is what the user was asked with it; nil:
// nothing.
func (r *Reader) callBar(p *phase, c *trace.Call, asked *trace.Permission) *bar {
	b := &bar{interval: interval{c.Run, c.Began, c.Ended}, seq: c.Request, mark: service, untimed: c.Untimed}
	switch trace.PartOf(c.Method) {
	case trace.ForUser:
		b.mark = asking
	case trace.ForTool:
		b.waits = true
	}
	text := termtext.Piece(c.Name())
	if asked != nil && asked.Outcome != "" {
		text = "permission → " + termtext.Piece(asked.Choice())
	}
	if c.Open() {
		b.to, b.open = p.to, p.turn.Open()
	}
	b.failed = c.Failed || r.failed[c.Response]
	b.label = []termtext.Span{labelStyle(b).Span(text)}
	return b
}
