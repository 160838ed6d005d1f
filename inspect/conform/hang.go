package conform

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A lull records when something was last sent on a connection.
type lull struct {
	heard   Moment // the latest message from either side that does more than cancel; Seq 0: none
	replied Moment // the client's latest response; Seq 0: none
}

func (l *lull) observe(s *Step) {
	if s.is(wire.Response) && s.From == Client {
		l.replied = s.Moment()
	}
	if s.Update != "" || !s.is(wire.Notification) || !dialect.Does(s.Method, dialect.CancelsTurns|dialect.CancelsRequest) {
		l.heard = s.Moment()
	}
}

// clientPatience is how long a client may take to serve a file or a terminal, as in acptap watch
// (inspect/stall).
const clientPatience = 10 * time.Second

// patience returns how long a request may stay open while nothing else is sent; 0 means no
// limit, because the receiver may be waiting for the user, for work, or for the connection's
// end.
func (c *connection) patience(call *Call) time.Duration {
	m, known := dialect.Lookup(c.Protocol, call.Method)
	switch {
	case call.stream != 0, dialect.Wraps(call.Method), m.Ends != dialect.ByReceiver, m.Role.Is(dialect.AwaitsExit | dialect.GetsTaskResult):
		return 0
	case call.From == Agent && m.Role.Is(dialect.UsesFile|dialect.UsesTerminal):
		return clientPatience
	case call.From == Agent, !known: // the user may be asked
		return 0
	case m.Role.Is(dialect.CallsTool):
		return dialect.ToolLimit
	case m.Role.Is(dialect.Opens | dialect.Initializes):
		return dialect.SetupLimit
	case m.Role.Is(dialect.Prompts):
		return dialect.SilentLimit
	}
	return dialect.HungLimit
}

// gaveUp returns when an answer could no longer be expected, and why: a side closed its
// stream or exited, or a signal told the agent to exit.
func (k *closing) gaveUp() (first Moment, why string) {
	for _, one := range []struct {
		Moment
		why string
	}{
		{k.eof[wire.ClientToAgent], "the client closed its stream"},
		{k.asked, "a signal told the agent to end"},
		{k.eof[wire.AgentToClient], "the agent closed its stream"},
		{k.exit, "the agent ended"},
	} {
		if one.Seq != 0 && (first.Seq == 0 || one.Seq < first.Seq) {
			first, why = one.Moment, one.why
		}
	}
	return first, why
}

// asks reports whether the agent is waiting for the client.
func (c *connection) asks() bool {
	for call := range c.calls.All() {
		if call.From == Agent {
			return true
		}
	}
	return false
}

// runsTools reports whether a tool may be running.
func (c *connection) runsTools() bool {
	for _, x := range c.sessions.All() {
		if len(x.unfinished) > 0 {
			return true
		}
	}
	return false
}

// busy reports whether the agent may be waiting for something other than its own work.
func (c *connection) busy() bool { return c.asks() || c.runsTools() }

// hangRules concern requests that were never answered.
var hangRules = checks{
	{"RPC026", neverAnswered},
	{"ACP447", cancelUnconfirmed},
}

func neverAnswered(s *Step, r *Report) {
	c := s.Conn
	now := c.busy()
	for call := range c.calls.All() {
		side := Client + Agent - call.From
		limit := c.patience(call)
		if limit == 0 || call.halted.Seq != 0 || c.EndedItself(side) { // ACP447, RPC018
			continue
		}
		heard, busy, until := call.quiet, call.busy, call.Cancelled
		why := "the " + call.From.String() + " took it back (frame " + number(until.Seq) + ")"
		if until.Seq == 0 {
			heard, busy = c.lull.heard, now
			until, why = c.closing.gaveUp()
		}
		quiet, timed := since(heard, until)
		if !timed || quiet <= limit || side == Agent && busy {
			continue
		}
		r.Add(Evidence{
			Text: "did not answer " + call.Method + "; nothing came for " + termtext.Duration(quiet) + ", until " + why,
			Seq:  call.Seq, Of: call, By: side, Because: []uint64{heard.Seq}, Hang: true,
		})
	}
}

func cancelUnconfirmed(s *Step, r *Report) {
	c := s.Conn
	if s.Method == "session/prompt" {
		call := s.Call
		if call == nil || call.halted.Seq == 0 {
			return
		}
		x := r.Session()
		took, timed := since(c.lull.afterReply(call.halted), s.Moment())
		if x == nil || !timed || len(x.questions.open) > 0 || c.asks() {
			return
		}
		r.Judge(took > dialect.CancelLimit, Evidence{
			Text:    "ended the turn only " + termtext.Duration(took) + " after session/cancel (frame " + number(call.halted.Seq) + ")",
			Because: []uint64{call.halted.Seq}, Strength: Note, // the victims broke on turns that never ended
		})
		return
	}
	until, why := c.closing.gaveUp()
	if c.asks() || c.EndedItself(Agent) { // RPC018
		return
	}
	for _, x := range c.sessions.All() {
		for _, call := range x.turn.prompts {
			took, timed := since(c.lull.afterReply(call.halted), until)
			if call.halted.Seq == 0 || !timed || took <= dialect.CancelLimit {
				continue
			}
			r.Add(Evidence{
				Text: "did not end the turn in the " + termtext.Duration(took) + " between session/cancel (frame " + number(call.halted.Seq) + ") and the end: " + why,
				Seq:  call.Seq, Of: call, In: x, Because: []uint64{call.halted.Seq}, Hang: true,
			})
		}
	}
}

// afterReply returns m, or the moment of the client's latest response if that came later:
// the agent may have been waiting for it.
func (l *lull) afterReply(m Moment) Moment {
	if l.replied.Seq > m.Seq {
		return l.replied
	}
	return m
}
