// Package stats counts what happened on tapes: how long turns, calls and tools took and at
// what percentiles, what turns waited for, and which tokens and costs agents reported. A
// Collector takes the events of one or several tapes, and its memory is bounded whatever is
// on them; its Tables can be written as text, CSV and JSON. Acptap measures between client
// and agent, so times include the pipes. The package reads and draws nothing.
package stats

import (
	"cmp"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// A Collector counts what happens on tapes. Its zero value is ready to use; it is for one
// goroutine.
type Collector struct {
	By By // what is also counted one by one; must not change after the first Take

	all         Turns
	methods     names[Timing]
	tools       names[Timing]
	servers     ServerCalls
	serverTapes int
	groups      groups
	tapes       []Tape
	sessions    map[*trace.Session]tokenSums
	ends        trace.TurnEnds
	clock       trace.ToolClock
	context     contexts
	samples     int // number added since series were last compressed
}

// A Tape is what a Collector must know about a tape besides its events.
type Tape struct {
	ID         string
	Short      string             // what users call it
	Agent      string             // what the agent is called if it does not say so itself
	Connection dialect.Connection // as far as it is known before the frames are read
}

// tokenSums are the tokens of a session, by the Turns that count them.
type tokenSums map[*Turns]*trace.TokenSum

// maxSessions is how many ended sessions keep their sums, since a session may go on.
const maxSessions = 1 << 12

// Begin begins the next tape.
func (c *Collector) Begin(t Tape) { c.tapes = append(c.tapes, t) }

// Take takes the events of the frame that was just added to tr, or of the end of tr. tr
// must have as many tapes as were begun here, and may be Brief.
func (c *Collector) Take(tr *trace.Trace) {
	for _, e := range tr.Events() {
		for _, end := range c.ends.Observe(&e) {
			c.turn(&end, tr)
		}
		switch e.Kind {
		case trace.SessionEvent:
			c.session(&e)
		case trace.CallEvent:
			c.call(&e, tr)
		case trace.ToolCallEvent:
			c.tool(&e)
		}
	}
	if c.samples > maxSamples {
		c.compress()
	}
}

func (c *Collector) session(e *trace.Event) {
	s := c.sums(e.Session)
	if e.Phase == trace.Ended && len(c.sessions) > maxSessions {
		c.forget(e.Session, s)
	}
}

// sums returns the token sums of a session.
func (c *Collector) sums(of *trace.Session) tokenSums {
	s := c.sessions[of]
	if s == nil {
		if c.sessions == nil {
			c.sessions = map[*trace.Session]tokenSums{}
		}
		s = tokenSums{}
		c.sessions[of] = s
	}
	return s
}

// forget counts what is known only after the last frame of a session, and drops the
// session.
func (c *Collector) forget(of *trace.Session, s tokenSums) {
	for turns, sum := range s {
		turns.Usage.addSum(sum)
	}
	c.context.add(of.Conversation.State.Usage)
	delete(c.sessions, of)
}

// End counts what is known only after the last tape.
func (c *Collector) End(tr *trace.Trace) {
	for _, end := range c.ends.End() {
		c.turn(&end, tr)
	}
	for of, s := range c.sessions {
		c.forget(of, s)
	}
}

// turn counts a turn about which everything is known.
func (c *Collector) turn(t *trace.TurnEnd, tr *trace.Trace) {
	who := c.who(t.Run, tr)
	e := &ended{t.Turn, t.Outcome.How.String(), t.How == trace.Failed}
	if t.How == trace.StillOpen || t.How == trace.Forgotten {
		c.leave(e, t.Session, who)
		return
	}
	c.samples += samplesOfTurn
	counted := []*Turns{&c.all}
	if g := c.groups.ofTurn(c.By, who, t.Session); g != nil {
		counted = append(counted, &g.Turns)
	}
	sums := c.sums(t.Session)
	for _, turns := range counted {
		turns.add(e)
		sum := sums[turns]
		if sum == nil {
			sum = &trace.TokenSum{}
			sums[turns] = sum
		}
		sum.Add(e.Usage.Tokens)
	}
	if c.By == ByTurn {
		c.groups.addTurn(who, t.Session, e, sums[&c.all])
	}
}

// leave counts a turn without an end.
func (c *Collector) leave(e *ended, of *trace.Session, who who) {
	c.all.leave(e)
	c.all.ends.of(e.end).Open++
	if g := c.groups.ofTurn(c.By, who, of); g != nil {
		g.leave(e)
	}
	if c.By == ByTurn {
		c.groups.addTurn(who, of, e, nil)
	}
}

// who returns the agent of a tape.
func (c *Collector) who(run int, tr *trace.Trace) who {
	conn, tape := tr.Runs[run], c.tapes[run]
	if conn.Agent == "" {
		conn = tape.Connection
	}
	return who{cmp.Or(conn.Agent, tape.Agent), conn.AgentVersion, conn.Protocol, tape}
}

func (c *Collector) call(e *trace.Event, tr *trace.Trace) {
	if e.Phase != trace.Ended || dialect.EndsAtClose(e.Method) {
		return
	}
	counted := []*Timing{c.methods.of(e.Call.Name())}
	if e.Call.Tool != "" {
		counted = append(counted, c.tools.of(e.Call.Tool))
	}
	if e.Dir == wire.ClientToAgent {
		counted = append(counted, &c.all.Calls)
		if g := c.groups.ofCall(c.By, c.who(e.Run, tr), e.Session); g != nil {
			counted = append(counted, &g.Calls)
		}
	}
	c.samples += len(counted)
	for _, t := range counted {
		if e.End == trace.Completed || e.End == trace.Failed {
			t.End(e.End == trace.Failed, e.At-e.Began, !e.Untimed, Place{e.Run, e.First})
		} else {
			t.Open++
		}
	}
}

func (c *Collector) tool(e *trace.Event) {
	took, ok := c.clock.Observe(e, c.ends.Last(e.Session))
	if !ok {
		return
	}
	call := e.ToolCall.ToolCall
	t := c.tools.of(cmp.Or(call.Name, call.Kind, "other"))
	switch e.End {
	case trace.Completed, trace.Failed, trace.Cancelled:
		t.End(e.End == trace.Failed, took, !e.Untimed, Place{e.Run, e.First})
		c.samples++
	default:
		t.Open++
	}
}

// Methods returns how long the calls of both sides took, by method, the most frequent
// first.
func (c *Collector) Methods() []Named { return timings(c.methods) }

// Tools returns how long tool calls took by the name of the tool, or by its kind if it has
// none, the most frequent first. The time in which the user was asked does not count.
func (c *Collector) Tools() []Named { return timings(c.tools) }

// Server counts the calls of a server that the agent of a tape started. All frames of the
// server's tape must have been added to t. In Places of these calls, Run numbers the
// servers from 0.
func (c *Collector) Server(t *nested.Tape) {
	c.servers.Add(t, c.serverTapes)
	c.serverTapes++
	c.samples += len(t.Calls)
}

// Servers returns how long the calls of servers took, the most frequent first.
func (c *Collector) Servers() []Named { return timings(c.servers.calls) }

// Method returns how long the calls of a method took, nil if there are none.
func (c *Collector) Method(name string) *Timing { return c.methods[name] }

// Turns returns what all turns took. It is complete after End.
func (c *Collector) Turns() *Turns { return &c.all }

// contexts are how full the contexts of sessions were, where the agent reported it.
type contexts struct {
	last, peak Series
	size       uint64 // the largest
}

func (c *contexts) add(u *trace.Usage) {
	if u == nil {
		return
	}
	c.last.Add(int64(min(u.Used, maxTokens)))
	c.peak.Add(int64(min(u.Peak, maxTokens)))
	c.size = max(c.size, u.Size)
}

const maxTokens = 1 << 53

// maxSamples is how many numbers may be added before Take compresses the series that take
// more memory than a histogram. That bounds memory even if there are many series.
const (
	maxSamples    = 1 << 20
	samplesOfTurn = 24
	worthwhile    = 512 // numbers, which take as much as a histogram
)

func (c *Collector) compress() {
	c.samples = 0
	smaller := func(s *Series) {
		if len(s.exact) > worthwhile {
			s.compress()
		}
	}
	c.all.each(smaller)
	for _, n := range []names[Timing]{c.methods, c.tools, c.servers.calls} {
		for _, t := range n {
			smaller(&t.Took)
		}
	}
	for _, g := range c.groups.list {
		g.each(smaller)
	}
}

// each calls f for all series of the turns.
func (t *Turns) each(f func(*Series)) {
	for _, s := range []*Series{&t.Took, &t.Calls.Took, &t.Output, &t.Text, &t.Confirm, &t.Rate} {
		f(s)
	}
	for i := range t.Parts {
		f(&t.Parts[i])
	}
	for i := range t.Usage.Kinds {
		f(&t.Usage.Kinds[i])
	}
	for _, cost := range t.Usage.Costs {
		f(&cost.Each)
	}
	for _, end := range t.ends {
		f(&end.Took)
	}
}
