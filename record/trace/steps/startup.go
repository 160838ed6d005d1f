package steps

import (
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// StartUp returns what preceded the first turn of the session on a tape: how the client set
// the session up and how its servers started. It includes the set-up of the connection unless
// a turn of another session came earlier. StartUp returns nil if t is not the first turn or
// nothing preceded it.
func (s *Session) StartUp(t *trace.Turn) *Phase {
	if !s.isFirst(t) {
		return nil
	}
	p := &Phase{Step: Step{Kind: SetUp, Span: Span{t.Run, t.Began, t.Began}}}
	alone := s.beganConnection(t)
	for _, c := range s.Trace.Calls {
		if c.Run == t.Run && c.Request < t.Prompt && c.Dir == wire.ClientToAgent &&
			(c.Session == s.of.ID || c.Session == "" && alone) && dialect.AreaOf(c.Method, "") == dialect.LifeCycle {
			p.setUp(c)
		}
	}
	if len(p.Steps) == 0 {
		return nil
	}
	s.started(p)
	inOrder(p.Steps)
	p.Frame, p.From, p.To = p.Steps[0].Frame, p.Steps[0].From, p.Steps[0].To
	for _, one := range p.Steps {
		p.To, p.Untimed = max(p.To, one.To), p.Untimed || one.Untimed
	}
	if !p.Untimed {
		p.Waits = p.waits()
	}
	return p
}

// isFirst reports whether a turn is the first of the session on its tape.
func (s *Session) isFirst(t *trace.Turn) bool {
	return t.Number == 1 || s.of.Conversation.Turns[t.Number-2].Run != t.Run
}

// beganConnection reports whether a turn is the first of all sessions on its tape.
func (s *Session) beganConnection(t *trace.Turn) bool {
	for _, other := range s.Trace.Sessions {
		for _, one := range other.Conversation.Turns {
			if one.Run == t.Run && one.Prompt < t.Prompt {
				return false
			}
		}
	}
	return true
}

// setUp adds a call by the client. An unanswered call lasts until the turn.
func (p *Phase) setUp(c *trace.Call) {
	one := &Step{Kind: SetUp, Span: Span{c.Run, c.Began, c.Ended}, Frame: c.Request, Open: c.Open(), Untimed: c.Untimed, Failed: c.Failed, Call: c}
	if one.Open {
		one.To = max(p.To, one.From)
	}
	p.Steps = append(p.Steps, one)
}

// started adds the servers that started before the turn.
func (s *Session) started(p *Phase) {
	start := s.Start(p.Run)
	if s.Calls == nil || start.IsZero() {
		return
	}
	for _, t := range s.Servers(s.of) {
		from, to := t.Start.Sub(start), t.Ready.Sub(start)
		if !t.Ready.IsZero() && from >= p.Steps[0].From && to <= p.From {
			p.Steps = append(p.Steps, &Step{Kind: Starts, Span: Span{p.Run, from, to}, Frame: p.Steps[len(p.Steps)-1].Frame, Starts: t})
		}
	}
}

// waits returns what a start-up waited for. Each instant is charged to the first of these that
// is pending: a login (to the user), the agent, the client.
func (p *Phase) waits() []trace.Wait {
	var edges []time.Duration
	for _, one := range p.Steps {
		edges = append(edges, one.From, one.To)
	}
	slices.Sort(edges)
	var list []trace.Wait
	for i := 1; i < len(edges); i++ {
		w := trace.Wait{Part: p.pending(edges[i-1], edges[i]), From: edges[i-1], To: edges[i]}
		w.Quiet = w.Part == trace.ForAgent
		switch n := len(list); {
		case w.From == w.To:
		case n > 0 && list[n-1].Part == w.Part:
			list[n-1].To = w.To
		default:
			list = append(list, w)
		}
	}
	return list
}

// pending returns what a start-up waited for between two times between which no step begins or
// ends.
func (p *Phase) pending(from, to time.Duration) trace.Part {
	part := trace.ForClient
	for _, one := range p.Steps {
		if one.From > from || one.To < to {
			continue
		}
		if one.Call != nil && dialect.Does(one.Call.Method, dialect.LogsIn) {
			return trace.ForUser
		}
		part = trace.ForAgent
	}
	return part
}
