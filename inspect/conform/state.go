package conform

import (
	"bytes"
	"time"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Limits on what is remembered about a connection.
const (
	maxSessions = 4096
	maxCalls    = 1 << 14 // open requests
	maxParams   = 4 << 10 // bytes of one request's params
	allParams   = 4 << 20 // bytes of all open requests' params
)

// A connection holds what the rules know about a connection before a step.
type connection struct {
	dialect.Connection
	settled bool // the dialect is certain

	calls    dialect.OpenRequests[*Call]
	params   int // bytes kept in calls
	sessions bounded.Map[string, *session]
	past     *past

	histories uint32 // number begun; for session.history

	lull      lull      // hang.go
	hello     hello     // hello.go
	replies   replies   // rpc.go
	transport transport // transport.go
	http      exchanges // http.go
	messages  messages  // turn.go
	directory directory // setup.go
	tools     tools     // tool.go
	terminals terminals // agent_request.go
	shaper    shaper    // shape.go
	mcp       mcpState  // mcp.go

	met       bool // a frame has arrived
	assumed   bool // its method suggests that it is the first of the connection
	guessed   bool // no ID told which connection requests over HTTP belong to
	lost      string
	read      [Acptap]uint64 // Seq of the latest request that Client or Agent has answered: it has read everything before that
	closing   closing
	signalled bool // acptap forwarded a signal to the agent
	over      bool // the rules have seen the end
}

func newConnection(p *past) *connection {
	c := &connection{past: p}
	c.sessions.Limit, c.calls.Limit = maxSessions, maxCalls
	c.messages.seen.Limit, c.tools.known.Limit = maxMessages, maxTools
	c.directory.gone.Limit, c.directory.early.Limit = maxGone, maxEarly
	return c
}

// A Call is a request waiting for its response.
type Call struct {
	Moment
	ID      string // as JSON
	Entry   int    // index in a batch; -1: none
	From    Fault
	Method  string
	Session string // id; empty: none
	Params  []byte // nil if longer than 4 KiB or too much is open; for session/request_permission only the options
	lost    string // why its response proves nothing
	stream  uint64 // on which it was sent

	Cancelled Moment // when its sender cancelled it; Seq 0: it did not

	halted  Moment    // of the session/cancel that came while this was the only open prompt, or an open permission request; Seq 0: none
	command bool      // a prompt that is a command for the agent
	tool    *toolCall // for which it asks permission; nil: none

	quiet   Moment  // when it was cancelled, the latest message before that
	busy    bool    // when it was cancelled, the agent waited for the client or ran a tool
	overlap overlap // a prompt's; two_prompts.go
	worked  bool    // for a prompt: the agent was reported for working on after session/cancel

	progress *progress // progress (MCP) that the sender asked for; nil: none
}

// asCall returns what is remembered about a request or other message, without its params.
func (s *Step) asCall() *Call {
	return &Call{Moment: s.Moment(), ID: string(s.Envelope.ID), Entry: s.Entry, From: s.From, Method: s.Method, Session: s.About.Session, stream: s.Frame.Stream}
}

// lose records that the connection is no longer completely known.
func (c *connection) lose(why string) {
	if c.lost == "" {
		c.lost = why
	}
	for call := range c.calls.All() {
		if call.lost == "" {
			call.lost = why
		}
	}
	for _, s := range c.sessions.All() {
		s.lose(why)
	}
}

// gap is lose for missing bytes.
func (c *connection) gap(why string) {
	c.lose(why)
	c.http.lose(why)
}

// observe updates the state with a step.
func (c *connection) observe(s *Step) {
	switch {
	case s.is(wire.Response):
		c.answer(s)
	case s.is(wire.Request):
		c.ask(s)
	case s.About.Events.Has(dialect.RequestCancelled):
		c.takeBack(s)
	}
	c.transport.observe(s)
	c.lull.observe(s)
	if s.Update == "" {
		c.terminals.observe(s)
	}
	c.hello.observe(s)
	c.directory.observe(s)
	c.setUp(s)
	if c.Protocol == dialect.MCP {
		c.mcp.observe(s)
	}
	if s.Session = c.session(s.sessionID()); s.Session != nil {
		s.Session.observe(s)
		c.messages.observe(s)
		if c.Dialect == dialect.ACPv1 {
			c.tools.observe(s)
		}
	}
}

func (c *connection) ask(s *Step) {
	call := s.asCall()
	params := s.Envelope.Params
	if s.Method == "session/request_permission" {
		params = s.Param("options") // the tool call may be large
	}
	if n := len(params); n <= maxParams && c.params+n <= allParams {
		call.Params = append([]byte{}, params...) // empty if there are none
		c.params += n
	}
	if s.Kind() == wire.Oversized {
		call.lost = "frame " + number(s.Frame.Seq) + " is too large to be read whole"
	}
	replaced, forgotten := c.calls.Ask(s.Frame.Dir, s.Frame.Stream, s.Envelope.ID, call)
	for _, gone := range []*Call{replaced, forgotten} {
		if gone != nil {
			c.params -= len(gone.Params)
		}
	}
	if replaced != nil {
		call.lost = "frame " + number(s.Frame.Seq) + " asks under the id of an open request"
		c.replies.expect(replaced)
	}
	if forgotten != nil {
		c.forget(forgotten)
	}
}

// forget records that one request is no longer remembered; all others are.
func (c *connection) forget(call *Call) {
	const why = "more requests are open than are remembered"
	if c.lost == "" {
		c.lost = why
	}
	if x := c.session(call.Session); x != nil {
		x.lose(why)
	}
}

func (c *connection) answer(s *Step) {
	if call := c.calls.Answer(s.Frame.Dir, s.Frame.Stream, s.Envelope.ID); call != nil {
		c.params -= len(call.Params)
	}
	c.replies.observe(s)
}

// takeBack records that a request's sender has cancelled it.
func (c *connection) takeBack(s *Step) {
	id, by := dialect.NamedID(s.Method, dialect.RequestID, s.Frame.Dir, s.Envelope.Params)
	if call := c.calls.Find(by, s.Frame.Stream, id); call != nil && call.From == s.From && call.Cancelled.Seq == 0 {
		call.Cancelled, call.quiet, call.busy = s.Moment(), c.lull.heard, c.busy()
	}
}

// A closing records how a connection ends.
type closing struct {
	eof    [2]Moment // for each direction; Seq 0: not seen
	exit   Moment
	asked  Moment         // the first signal that may have caused the exit; Seq 0: none
	killed bool           // by a signal that cannot be caught
	last   *dialect.Frame // the mark that ended it; without its bytes
}

// closed handles the end of a stream.
func (c *connection) closed(f *dialect.Frame) {
	if f.Dir < wire.AgentStderr {
		c.closing.eof[f.Dir] = momentOf(f)
		c.closing.keep(f)
	}
}

// exited handles the agent's exit.
func (c *connection) exited(f *dialect.Frame, how *wire.Exit) {
	c.closing.exit = momentOf(f)
	c.closing.killed = how.Signal == "killed"
	c.closing.keep(f)
}

// signalled handles a signal forwarded to the agent.
func (k *closing) signalled(f *dialect.Frame, name string) {
	if k.asked.Seq == 0 && name != "killed" {
		k.asked = momentOf(f)
	}
}

func (k *closing) keep(f *dialect.Frame) {
	last := *f
	last.Raw = nil
	k.last = &last
}

// ended reports whether the tape shows how the connection ended.
func (c *connection) ended() bool {
	k := &c.closing
	return k.exit.Seq != 0 || k.eof[0].Seq != 0 && k.eof[1].Seq != 0
}

// EndedItself reports whether a side ended of its own accord: no signal was sent, and the
// other side's stream was still open.
func (c *connection) EndedItself(side Fault) bool {
	mine, other := c.closing.end(side), c.closing.eof[wire.AgentToClient]
	if side == Agent {
		other = c.closing.eof[wire.ClientToAgent]
	}
	return mine.Seq != 0 && (other.Seq == 0 || mine.Seq < other.Seq) && !(side == Agent && c.signalled)
}

// end returns when a side ended; Seq 0: it has not.
func (k *closing) end(side Fault) Moment {
	switch {
	case side == Client:
		return k.eof[wire.ClientToAgent]
	case k.eof[wire.AgentToClient].Seq != 0:
		return k.eof[wire.AgentToClient]
	}
	return k.exit
}

// leftTimeSince reports whether a side had time to answer between a moment and its end.
func (k *closing) leftTimeSince(m Moment, side Fault, grace time.Duration) bool {
	end := k.end(side)
	d, timed := since(m, end)
	return m.Seq < end.Seq && (!timed || d > grace)
}

// since returns the time between two moments; ok is false if it is unknown.
func since(from, to Moment) (d time.Duration, ok bool) {
	return to.At - from.At, !from.Untimed && !to.Untimed
}

// tornMessage reports whether an invalid line may be a fragment of a message.
func tornMessage(raw []byte) bool {
	line := bytes.TrimLeft(raw, " \t")
	return len(line) > 0 && line[0] == '{' || bytes.Contains(line, []byte(`"jsonrpc"`))
}
