package summary

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/record/trace"
)

// A sessionUse is what a session used.
type sessionUse struct {
	tokens trace.TokenSum
	turn   *trace.Turn // the turn that began last
	ended  bool
}

// maxSessions is how many sessions are kept before ended ones are folded.
const maxSessions = 1 << 12

// folded sums up what the sessions that are no longer kept have used.
type folded struct {
	turns   int
	tokens  trace.Tokens
	running bool
	costs   []Cost
}

func (t *Tally) session(e *trace.Event) {
	t.use(e.Session).ended = e.Phase == trace.Ended
}

// use returns what a session has used so far.
func (t *Tally) use(s *trace.Session) *sessionUse {
	if u := t.sessions[s]; u != nil {
		return u
	}
	if len(t.sessions) >= maxSessions {
		for s, u := range t.sessions {
			if u.ended {
				t.folded.add(s, u)
				delete(t.sessions, s)
			}
		}
	}
	t.sum.Sessions++
	u := &sessionUse{}
	put(&t.sessions, s, u)
	return u
}

func (f *folded) add(s *trace.Session, u *sessionUse) {
	f.turns += u.tokens.Turns
	tokens, running := u.tokens.Total()
	f.tokens, f.running = f.tokens.Plus(tokens), f.running || running
	usage := s.Conversation.State.Usage
	if usage == nil || usage.Reported.Currency == "" {
		return
	}
	i := slices.IndexFunc(f.costs, func(c Cost) bool { return c.Currency == usage.Reported.Currency })
	if i < 0 {
		i = len(f.costs)
		f.costs = append(f.costs, Cost{Cost: trace.Cost{Currency: usage.Reported.Currency}})
	}
	f.costs[i].Amount += usage.Reported.Amount
	f.costs[i].Sessions++
}

// usage returns what all sessions used.
func (t *Tally) usage() Usage {
	all := t.folded
	all.costs = slices.Clone(all.costs)
	var newest *trace.Session
	for s, u := range t.sessions {
		all.add(s, u)
		if s.Conversation.State.Usage != nil && (newest == nil || later(s, newest)) {
			newest = s
		}
	}
	slices.SortFunc(all.costs, func(a, b Cost) int { return cmp.Compare(a.Currency, b.Currency) })
	u := Usage{Turns: all.turns, Tokens: all.tokens, Running: all.running, Costs: all.costs}
	if newest != nil {
		c := newest.Conversation.State.Usage
		u.Context = &Context{c.Used, c.Size, c.Peak}
	}
	return u
}

// later reports whether the last frame of a session came after that of another.
func later(a, b *trace.Session) bool {
	x, y := a.Spans[len(a.Spans)-1], b.Spans[len(b.Spans)-1]
	return cmp.Or(cmp.Compare(x.Run, y.Run), cmp.Compare(x.Last, y.Last)) > 0
}
