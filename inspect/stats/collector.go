// Package stats counts what happened on tapes: how long turns, calls and tools took and
// at what percentiles, what turns waited for, and which tokens and costs agents reported.
// A Collector counts the events of one or more tapes in bounded memory, regardless of
// their contents; its Tables can be written as text, CSV and JSON. Acptap measures
// between client and agent, so times include the pipes. The package reads and draws
// nothing.
package stats

import (
	"cmp"
	"iter"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// A Collector counts what happens on tapes. Its zero value is ready to use. It is not
// safe for concurrent use. The fields must not change after the first Take.
type Collector struct {
	By   By             // what to also count individually
	Only *trace.Session // count only this session and what belongs to none; nil: count all

	// Step, unless nil, is called with the end of each tool call, permission and other
	// request, except prompts, and with its duration.
	Step func(e *trace.Event, took time.Duration)

	all         Turns
	asked       names[int] // requests of the client
	methods     names[Timing]
	tools       names[Timing]
	servers     ServerCalls
	weights     weights
	serverTapes int
	groups      groups
	tapes       []record.Info
	sessions    map[*trace.Session]*tokenSums
	room        int      // number of sessions allowed before ended ones are forgotten
	over        Sessions // those no longer in sessions
	ends        trace.TurnEnds
	clock       trace.ToolClock
	now         time.Duration // of the last frame
	samples     int           // number added since the series were last compressed
}

// Begin begins the next tape.
func (c *Collector) Begin(tape record.Info) { c.tapes = append(c.tapes, tape) }

// Take counts the events of the frame that was just added to tr, or of the end of tr. tr
// must have as many tapes as were begun here, and may be Brief.
func (c *Collector) Take(tr *trace.Trace) {
	c.now = tr.Now()
	events := tr.Events()
	for i := range events {
		e := &events[i]
		if c.Only != nil && e.Session != nil && e.Session != c.Only {
			continue
		}
		for _, end := range c.ends.Observe(e) {
			c.turn(&end, tr)
		}
		switch e.Kind {
		case trace.SessionEvent:
			c.sums(e.Session).ended = e.Phase == trace.Ended
		case trace.CallEvent:
			c.call(e, tr)
		case trace.ToolCallEvent:
			c.tool(e)
		case trace.PermissionEvent:
			c.step(e, e.At-e.Began)
		}
	}
	if c.samples > maxSamples {
		c.compress()
	}
}

// step reports something that took time.
func (c *Collector) step(e *trace.Event, took time.Duration) {
	cut := e.End == trace.Unfinished || e.End == trace.StillOpen && e.Kind == trace.ToolCallEvent
	if ended := e.Phase == trace.Ended && (e.End.Known() || cut); ended && !e.Untimed && c.Step != nil {
		c.Step(e, took)
	}
}

// End counts what only becomes known after the last tape.
func (c *Collector) End(tr *trace.Trace) {
	for _, end := range c.ends.Rest(c.now) {
		c.turn(&end, tr)
	}
	c.ends = trace.TurnEnds{}
	for of := range c.sessions {
		c.forget(of)
	}
}

// turn counts a turn about which everything is known.
func (c *Collector) turn(t *trace.TurnEnd, tr *trace.Trace) {
	c.samples += samplesOfTurn
	who, sums := c.who(t.Run, tr), c.sums(t.Session)
	c.all.Add(t)
	sums.all.Add(t.Usage.Tokens)
	if g := c.groups.ofTurn(c.By, who, t.Session); g != nil {
		g.Add(t)
		sums.add(g, t.Usage.Tokens)
	}
	if c.By == ByTurn {
		c.groups.addTurn(who, t, &sums.all)
	}
}

// who returns the agent of a tape.
func (c *Collector) who(run int, tr *trace.Trace) who {
	conn, tape := tr.Runs[run], &c.tapes[run]
	if conn.Agent == "" {
		conn = tape.Connection
	}
	agent := conn.Agent
	if agent == "" {
		agent = tapetext.AgentName(*tape)
	}
	return who{agent, conn.AgentVersion, conn.Protocol, tape.Tape}
}

func (c *Collector) call(e *trace.Event, tr *trace.Trace) {
	if e.Phase == trace.Began && e.Dir == wire.ClientToAgent {
		*c.asked.of(e.Method)++
	}
	if e.Phase != trace.Ended || dialect.EndsAtClose(e.Method) {
		return
	}
	if !dialect.Does(e.Method, dialect.Prompts|dialect.AsksPermission) {
		c.step(e, e.At-e.Began)
	}
	took := e.At - e.Began
	c.count(c.methods.of(e.Call.Name()), e, took)
	if e.Call.Tool != "" {
		c.count(c.tools.of(e.Call.Tool), e, took)
	}
	if e.Dir != wire.ClientToAgent {
		return
	}
	c.count(&c.all.Calls, e, took)
	if g := c.groups.ofCall(c.By, c.who(e.Run, tr), e.Session); g != nil {
		c.count(&g.Calls, e, took)
	}
}

func (c *Collector) tool(e *trace.Event) {
	took, ok := c.clock.Observe(e, c.ends.Last(e.Session))
	if !ok {
		return
	}
	c.step(e, took)
	call := e.ToolCall.ToolCall
	c.count(c.tools.of(ToolName(call)), e, took)
}

// ToolName returns the name under which a tool call is counted: that of the tool, or its kind
// if it has none.
func ToolName(c *trace.ToolCall) string { return cmp.Or(c.Name, c.Kind, "other") }

// count counts a call that has ended or has no end.
func (c *Collector) count(t *Timing, e *trace.Event, took time.Duration) {
	if !e.End.Known() {
		t.Open++
		return
	}
	t.End(e.End == trace.Failed, took, !e.Untimed, Place{e.Run, e.First})
	c.samples++
}

// Asked returns how often the client sent each request.
func (c *Collector) Asked() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for method, n := range c.asked {
			if !yield(method, *n) {
				return
			}
		}
	}
}

// Methods returns how long the calls of both sides took, by method, most frequent first.
func (c *Collector) Methods() []Named { return timings(c.methods) }

// Tools returns how long tool calls took, by the name of the tool, or its kind if it has
// none, most frequent first. Time spent asking the user does not count.
func (c *Collector) Tools() []Named { return timings(c.tools) }

// Server counts the calls to a server that the agent of a tape started. All frames of the
// server's tape must have been added to t. In Places of these calls, Run numbers the
// servers from 0.
func (c *Collector) Server(t *nested.Tape) {
	c.servers.Add(t, c.serverTapes)
	c.serverTapes++
	c.samples += len(t.Calls)
}

// Servers returns how long the calls to servers took, most frequent first.
func (c *Collector) Servers() []Named { return c.servers.List() }

// Method returns how long the calls of a method took, or nil if there are none.
func (c *Collector) Method(name string) *Timing { return c.methods[name] }

// maxSamples is the number of additions after which Take compresses the series that take
// more memory than a histogram. That bounds memory even if there are many series.
const (
	maxSamples    = 1 << 20
	samplesOfTurn = 24
	worthwhile    = 512 // numbers, which take as much memory as a histogram
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
	for _, s := range []*Series{&t.Took, &t.Calls.Took, &t.Output.Took, &t.Text.Took, &t.Confirm.Took, &t.Rate} {
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
