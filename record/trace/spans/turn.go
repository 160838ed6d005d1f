package spans

import (
	"cmp"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// A session holds the state that the spans of a session share.
type session struct {
	of     *trace.Session
	prompt *Ref              // the span named by the traceparent of the last prompt, or nil
	turns  map[int]Ref       // by number
	ended  map[int]time.Time // when turns ended, by number
	last   *Ref              // the turn that began last, or nil
	fork   *Ref              // the last turn of the session that it was forked from at the time of the fork, or nil
	open   map[int]*turn     // by number
}

// session returns the state of a session; nil for no session.
func (b *Builder) session(of *trace.Session) *session {
	if of == nil {
		return nil
	}
	s := b.sessions[of.ID]
	if s == nil || s.of != of {
		s = &session{of: of, turns: map[int]Ref{}, ended: map[int]time.Time{}, open: map[int]*turn{}}
		b.sessions[of.ID] = s
		if from := b.sessions[of.Parent]; from != nil {
			s.fork = from.last
		}
	}
	return s
}

// recall finds the turns that a session continues, at its first turn. Turns that this Builder
// has not seen are on other tapes.
func (b *Builder) recall(s *session, began time.Time) {
	on := func(session string) *Ref {
		if last, ok := b.tape.Before(session, began); ok {
			return &last
		}
		return nil
	}
	switch {
	case b.tape.Before == nil:
	case s.fork != nil:
	case s.of.Parent != "":
		s.fork = on(s.of.Parent)
	case !dialect.Does(s.of.Opened, dialect.Creates):
		s.last = on(s.of.ID)
	}
}

// A turn is an open turn.
type turn struct {
	Ref
	remote    *Ref // its parent, named by a traceparent, or nil
	previous  *Ref
	fork      *Ref // the last turn of the session that its own was forked from, or nil
	output    bool // the agent has produced output
	cancelled bool
	run       run
	events    Span // holds only its events
	children  []child
	at        map[*trace.Entity]int // indexes of tool calls and subagents in children
}

// A child is a span below a turn.
type child struct {
	Span
	last    uint64        // Seq of its last frame
	at      place         // of a tool call
	entity  *trace.Entity // of a tool call or a subagent
	tool    *trace.Entity // the tool call that contains it; nil: unknown
	byAgent bool          // a call by the agent
}

// turn handles an event of a turn.
func (b *Builder) turn(e *trace.Event, s *session) {
	t := s.open[e.InTurn]
	switch e.Phase {
	case trace.Began:
		s.open[e.InTurn] = b.prompted(e, s)
	case trace.Changed:
		if !t.output && e.Turn.Output != 0 {
			t.output = true
			t.tell(Event{Time: b.at(e.Turn.FirstOutput), Name: firstOutputEvent})
		}
		if !t.cancelled && e.Turn.Cancelled {
			t.cancelled = true
			t.tell(Event{Time: b.at(e.Turn.CancelSent), Name: cancelEvent})
		}
	case trace.Ended:
		delete(s.open, e.InTurn)
		b.complete(b.ended(e, s, t)...)
	}
}

// prompted begins a turn.
func (b *Builder) prompted(e *trace.Event, s *session) *turn {
	if len(s.turns) == 0 {
		b.recall(s, b.at(e.Began))
	}
	t := &turn{previous: s.last, remote: s.prompt}
	t.Trace, t.ID = traceID(b.tape.ID, Turn, e.First), spanID(b.tape.ID, Turn, e.First, e.Entry)
	if t.remote != nil {
		t.Trace = t.remote.Trace
	}
	if len(s.turns) == 0 {
		t.fork = s.fork
	}
	s.last, s.prompt = &t.Ref, nil
	s.turns[e.InTurn] = t.Ref
	return t
}

// tell adds an event to a turn.
func (t *turn) tell(e Event) {
	t.endRun()
	t.events.event(e)
}

// ended returns the span of a turn and the spans below it.
func (b *Builder) ended(e *trace.Event, s *session, t *turn) []Span {
	span := b.begin(Turn, e, nameOf("invoke_agent", b.agent()))
	span.Trace = t.Trace
	if t.remote != nil {
		span.Remote, span.Parent = true, t.remote.ID
	}
	span.text(operation, "invoke_agent")
	span.text(agentName, b.agent())
	span.text(agentVersion, b.now().AgentVersion)
	span.text(conversation, s.of.ID)
	span.text(requestModel, e.Turn.Model)
	if e.Turn.StopReason != "" {
		span.attr(finishReasons, []string{clip(e.Turn.StopReason, maxName)})
	}
	span.attr(turnNumber, int64(e.InTurn))
	span.timing(e)
	span.usage(&e.Turn.Usage)
	b.fail(&span, e)
	if b.Content {
		span.said(&s.of.Conversation, e.Turn)
		span.explain(wire.JSON(e.Turn.Error))
	}
	s.ended[e.InTurn] = span.End
	t.endRun()
	span.Events, span.Dropped = t.events.Events, t.events.Dropped
	if t.previous != nil {
		span.link(*t.previous, "previous turn")
	}
	if t.fork != nil {
		span.link(*t.fork, "forked from")
	}
	span.link(connectionRef(b.tape.ID), "connection")
	return append([]Span{span}, b.below(t, span.End)...)
}

// timing adds how the time of a turn was spent, if known.
func (s *Span) timing(e *trace.Event) {
	if e.Untimed {
		return
	}
	if t := e.Turn; t.Output != 0 {
		s.attr(timeToFirstChunk, termtext.Seconds(t.FirstOutput-t.Began).Float())
	}
	spend := e.Turn.Spend(e.At)
	for _, part := range []struct {
		name string
		took time.Duration
	}{{turnUser, spend.User}, {turnClient, spend.Client}, {turnTool, spend.Tool}, {turnAgent, spend.Agent}} {
		s.attr(part.name, termtext.Seconds(part.took).Float())
	}
}

// usage adds what a turn consumed, as reported by the agent.
func (s *Span) usage(u *trace.TurnUsage) {
	for _, c := range []struct {
		name  string
		count trace.Count
	}{
		{inputTokens, u.Tokens.Input}, {outputTokens, u.Tokens.Output}, {reasoningTokens, u.Tokens.Thought},
		{cacheReadTokens, u.Tokens.CachedRead}, {cacheWriteTokens, u.Tokens.CachedWrite}, {contextTokens, u.Context},
	} {
		if c.count.Given {
			s.attr(c.name, int64(c.count.N))
		}
	}
	if u.Cost.Currency != "" {
		s.attr(costAmount, u.Cost.Amount)
		s.text(costCurrency, u.Cost.Currency)
	}
}

// below returns the spans below a turn that has ended, in order of their first frames.
func (b *Builder) below(t *turn, ended time.Time) []Span {
	var ranges []steps.Range[uint64]
	for i := range t.children {
		if c := &t.children[i]; c.Kind == ToolCall {
			delete(b.tools, c.at)
			ranges = append(ranges, steps.Range[uint64]{From: c.Frame, To: c.last, Index: i})
		}
	}
	tools := steps.NewEnclosing(ranges)
	for i := range t.children {
		c := &t.children[i]
		parent, end := t.Ref, ended
		if in := t.parentOf(c, &tools); in >= 0 {
			parent, end = Ref{t.Trace, t.children[in].ID}, t.children[in].End
		}
		c.under(parent)
		c.endsBy(end)
	}
	slices.SortStableFunc(t.children, func(x, y child) int {
		return cmp.Or(cmp.Compare(x.Frame, y.Frame), cmp.Compare(x.Kind, y.Kind)) // a tool call may begin with a permission
	})
	spans := make([]Span, len(t.children))
	for i, c := range t.children {
		spans[i] = c.Span
	}
	return spans
}

// parentOf returns the index of the tool call or subagent that contains a span, or -1 if only
// the turn does.
func (t *turn) parentOf(c *child, tools *steps.Enclosing[uint64]) int {
	switch {
	case c.entity != nil:
		for above := c.entity.Above; above != nil; above = above.Above {
			if i, ok := t.at[above]; ok {
				return i
			}
		}
	case c.tool != nil:
		if i, ok := t.at[c.tool]; ok {
			return i
		}
	case c.byAgent:
		return tools.Only(c.Frame, c.last)
	}
	return -1
}

// nameOf returns the name of a span: the operation, followed by the name of its subject if
// there is one.
func nameOf(operation, of string) string {
	if of == "" {
		return operation
	}
	return operation + " " + of
}
