package stats

import (
	"cmp"

	"github.com/acptap/acptap/record/trace"
)

// Sessions is what agents report about sessions as a whole.
type Sessions struct {
	N        int
	Any      *trace.Session   // one of them: the only one if N is 1
	Contexts [2]Series        // tokens in the context, as last reported and at the maximum
	Size     uint64           // the largest context
	Newest   *trace.Usage     // of the session with the last frame
	Costs    map[string]*Cost // by currency; since the sessions began, possibly on another tape

	last trace.Span // of the session of Newest
}

// add adds a session.
func (s *Sessions) add(of *trace.Session) {
	s.N++
	s.Any = of
	u := of.Conversation.State.Usage
	if u == nil {
		return
	}
	addCost(&s.Costs, u.Reported)
	s.Contexts[0].Add(int64(min(u.Used, maxTokens)))
	s.Contexts[1].Add(int64(min(u.Peak, maxTokens)))
	s.Size = max(s.Size, u.Size)
	last := of.Spans[len(of.Spans)-1]
	if s.Newest == nil || cmp.Or(cmp.Compare(last.Run, s.last.Run), cmp.Compare(last.Last, s.last.Last)) > 0 {
		s.Newest, s.last = u, last
	}
}

const maxTokens = 1 << 53

// clone returns a copy that shares no mutable state.
func (s *Sessions) clone() Sessions {
	c := *s
	for i := range c.Contexts {
		c.Contexts[i] = Series{}
		c.Contexts[i].Merge(&s.Contexts[i])
	}
	c.Costs = nil
	mergeCosts(&c.Costs, s.Costs)
	return c
}

// tokenSums are the tokens of a session.
type tokenSums struct {
	ended  bool // it may continue
	all    trace.TokenSum
	groups map[*group]*trace.TokenSum // of the turns counted in each group
}

// add counts the tokens of a turn.
func (s *tokenSums) add(g *group, t trace.Tokens) {
	if s.groups == nil {
		s.groups = map[*group]*trace.TokenSum{}
	}
	if s.groups[g] == nil {
		s.groups[g] = &trace.TokenSum{}
	}
	s.groups[g].Add(t)
}

// maxSessions is the number of sessions whose sums are always kept before ended ones are
// forgotten.
const maxSessions = 1 << 12

// sums returns the token sums of a session.
func (c *Collector) sums(of *trace.Session) *tokenSums {
	s := c.sessions[of]
	if s == nil {
		if c.sessions == nil {
			c.sessions = map[*trace.Session]*tokenSums{}
		}
		if len(c.sessions) >= c.room {
			for of, s := range c.sessions {
				if s.ended {
					c.forget(of)
				}
			}
			c.room = max(maxSessions, 2*len(c.sessions))
		}
		s = &tokenSums{}
		c.sessions[of] = s
	}
	return s
}

// forget counts what only becomes known after the last frame of a session, and drops the
// session.
func (c *Collector) forget(of *trace.Session) {
	s := c.sessions[of]
	c.all.Usage.addSum(s.all)
	for g, sum := range s.groups {
		g.Usage.addSum(*sum)
	}
	c.over.add(of)
	delete(c.sessions, of)
}

// Turns returns what all turns took so far.
func (c *Collector) Turns() *Turns {
	if len(c.sessions) == 0 {
		return &c.all
	}
	all := &Turns{}
	all.Merge(&c.all)
	rest := map[*trace.Session]trace.TokenSum{}
	for of, sums := range c.sessions {
		rest[of] = sums.all
	}
	for _, turn := range c.ends.Rest(c.now) {
		all.Add(&turn)
		sum := rest[turn.Session]
		sum.Add(turn.Usage.Tokens)
		rest[turn.Session] = sum
	}
	for _, sum := range rest {
		all.Usage.addSum(sum)
	}
	return all
}

// Sessions returns what agents have reported about sessions so far.
func (c *Collector) Sessions() Sessions {
	all := c.over.clone()
	for of := range c.sessions {
		all.add(of)
	}
	return all
}
