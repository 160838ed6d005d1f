package steps

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// Turn returns the phase of a turn.
func (s *Session) Turn(t *trace.Turn) *Phase {
	p := &Phase{Turn: t, Step: Step{Span: Span{t.Run, t.Began, s.End(t)}, Frame: t.Prompt, Open: t.Open(), Untimed: t.Untimed}}
	if !t.Untimed {
		p.Waits = t.Waits(p.To)
	}
	entities := s.entities[t.Number]
	byEntity := map[*trace.Entity]*Step{}
	byRequest := map[uint64]*Step{} // steps of tool calls, by the request of their permission
	for _, e := range entities {
		if e.Run != t.Run || e.Replayed || s.Owned(e) {
			continue
		}
		one := p.entity(e)
		if one != nil {
			byEntity[e] = one
			if above := byEntity[e.Above]; above != nil {
				above.Below = append(above.Below, one)
			} else {
				p.Steps = append(p.Steps, one)
			}
			if e.ToolCall != nil {
				for _, asked := range e.ToolCall.Permissions {
					byRequest[asked.Request] = one
				}
			}
		}
		s.serve(p, one, e)
	}
	choices := trace.Permissions(entities)
	tops, tools := p.Steps, enclosing(p.Steps)
	for _, c := range s.asked[t.Number] {
		one := p.call(c, choices[c.Request])
		above := byRequest[c.Request]
		if above == nil {
			if i := tools.Only(one.From, one.To); i >= 0 {
				above = tops[i]
			}
		}
		if above == nil {
			p.Steps = append(p.Steps, one)
		} else {
			above.Below = append(above.Below, one)
		}
	}
	inOrder(p.Steps)
	return p
}

// entity returns the step for an entity, or nil if it takes no time.
func (p *Phase) entity(e *trace.Entity) *Step {
	one := &Step{Span: Span{e.Run, e.Began, e.Ended}, Frame: e.First, Untimed: e.Untimed, Entity: e}
	switch {
	case e.ToolCall != nil:
		one.Kind, one.From, one.Failed = Tool, e.Ready(), e.ToolCall.Failed()
		if !e.ToolCall.Finished() && !e.ToolCall.Rejected {
			one.To, one.Open = max(one.To, p.To), p.Open
		}
	case e.Subagent != nil:
		o := e.Subagent.Outcome()
		one.Kind, one.Failed = Tool, o.How.IsBad()
		if o.How == dialect.Running {
			one.To, one.Open = max(one.To, p.To), p.Open
		}
	case e.Terminal != nil && e.Terminal.Command != "":
		one.Kind = Tool
	case e.Message != nil && e.Message.Role == trace.Agent:
		one.Kind = Says
	case e.Message != nil && e.Message.Role == trace.Thought, e.Compaction != nil:
		one.Kind = Thinks
	case e.Plan != nil:
		one.Kind, one.To = Thinks, one.From // a plan takes no time
	default:
		return nil
	}
	return one
}

// call returns the step for a request from the agent.
func (p *Phase) call(c *trace.Call, asked *trace.Permission) *Step {
	one := &Step{Kind: Client, Span: Span{c.Run, c.Began, c.Ended}, Frame: c.Request, Untimed: c.Untimed, Failed: c.Failed, Call: c, Asked: asked}
	switch trace.PartOf(c.Method) {
	case trace.ForUser:
		one.Kind = User
	case trace.ForTool:
		one.Kind = Tool
	}
	if c.Open() {
		one.To, one.Open = max(p.To, one.From), true
	}
	return one
}

// serve adds the calls to servers that an entity led to. Calls with evidence go below its
// step.
func (s *Session) serve(p *Phase, above *Step, e *trace.Entity) {
	if s.Calls == nil {
		return
	}
	for _, c := range s.Calls.Of(e) {
		one := s.server(p, c, e)
		if above != nil && c.By != nested.NoEvidence {
			above.Below = append(above.Below, one)
		} else {
			p.Steps = append(p.Steps, one)
		}
	}
}

// server returns the step for a call to a server.
func (s *Session) server(p *Phase, c nested.Joined, e *trace.Entity) *Step {
	start := s.Start(p.Run)
	one := &Step{Kind: Server, Span: Span{Run: p.Run}, Frame: e.First, Open: c.Open(), Untimed: c.Untimed || start.IsZero(), Failed: c.Failed, Server: &c}
	if one.Untimed {
		one.From, one.To = e.Began, e.Began
		return one
	}
	within := func(t time.Duration) time.Duration { return max(min(t, p.To), p.From) }
	one.From, one.To = within(c.Began.Sub(start)), p.To
	if !one.Open {
		one.To = within(c.Ended.Sub(start))
	}
	return one
}

// enclosing returns an Enclosing of the tool calls among tops.
func enclosing(tops []*Step) Enclosing[time.Duration] {
	var list []Range[time.Duration]
	for i, one := range tops {
		if one.Entity != nil && one.Entity.ToolCall != nil {
			list = append(list, Range[time.Duration]{one.From, one.To, i})
		}
	}
	return NewEnclosing(list)
}
