package tracepage

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A phase is a start-up or a turn, with what went on in it.
type phase struct {
	bar
	turn *trace.Turn // nil: a start-up
	bars []*bar
}

// phases returns what a session spent its time on, in order.
func (r *Reader) phases(session *trace.Session, now time.Duration) []*phase {
	c := &session.Conversation
	entities := map[int][]*trace.Entity{} // by turn
	for _, e := range c.Entities {
		entities[e.Turn] = append(entities[e.Turn], e)
	}
	var sent, asked []*trace.Call // by the client, and by the agent
	for _, call := range r.trace.Calls {
		switch {
		case call.Dir == wire.ClientToAgent && (call.Session == "" || call.Session == session.ID) && dialect.AreaOf(call.Method, "") == dialect.LifeCycle:
			sent = append(sent, call)
		case call.Dir == wire.AgentToClient && call.Session == session.ID:
			asked = append(asked, call)
		}
	}
	var phases []*phase
	run := -1
	for _, t := range c.Turns {
		if t.Run != run {
			run = t.Run
			if p := startUp(sent, t, r.tapes); p != nil {
				phases = append(phases, p)
			}
		}
		for len(asked) > 0 && asked[0].Request < t.Prompt {
			asked = asked[1:]
		}
		phases = append(phases, r.turnPhase(session, t, entities[t.Number], asked, now))
	}
	return phases
}

// startUp returns what the client sent before the first turn on a tape, nil if that
// is nothing.
func startUp(sent []*trace.Call, first *trace.Turn, tapes int) *phase {
	p := &phase{}
	for _, c := range sent {
		if c.Run != first.Run || c.Request > first.Prompt {
			continue
		}
		b := &bar{interval: interval{c.Run, c.Began, c.Ended}, seq: c.Request, mark: starting, failed: c.Failed, untimed: c.Untimed}
		if c.Open() {
			b.to = max(min(first.Began, b.from), b.from)
		}
		b.label = []termtext.Span{labelStyle(b).Span(termtext.Piece(c.Method))}
		if p.bars == nil {
			p.bar = bar{interval: b.interval, seq: b.seq, mark: nothing}
		}
		p.to, p.untimed = max(p.to, b.to), p.untimed || b.untimed
		p.bars = append(p.bars, b)
		p.parts = append(p.parts, barPart{b.interval, starting, b.failed})
	}
	if p.bars == nil {
		return nil
	}
	p.label = []termtext.Span{termtext.Bold.Span("Start-up")}
	if tapes > 1 {
		p.label = append(p.label, termtext.Dim.Span(fmt.Sprintf("  tape %d", first.Run+1)))
	}
	return p
}

// labelStyle is that of what a bar is drawn with.
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
