package dialect

import (
	"time"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/wire"
)

// The limits: anything that takes longer is slow. Builds and tests take minutes; a healthy
// model or set-up is never silent for half a minute.
const (
	SilentLimit = 30 * time.Second
	ToolLimit   = 5 * time.Minute
	SetupLimit  = 30 * time.Second
	HungLimit   = 60 * time.Second
	CancelLimit = 10 * time.Second // to end a turn that was cancelled
)

// A Slow says what exceeded its limit before a frame arrived. Slow does not mean failed.
// While a tape is being recorded, acptap watch reports the same under the same names
// (inspect/stall).
type Slow uint8

// What is slow.
const (
	NotSlow     Slow = iota
	Silent           // a turn waited for the agent alone, and nothing of its session came
	SilentTool       // a turn waited for a tool or a command, and nothing of its session came
	SilentSetup      // a connection or a session was set up, and nothing of that session came
	Hung             // any other client request had neither an answer nor progress
)

var slowNames = [...]string{"", "silent", "tool", "setup", "hung"}

var slowEvents = [...]Events{0, SlowAgent, SlowTool, SlowSetup, SlowRequest}

// SlowEvents are the events that say what was slow.
const SlowEvents = SlowAgent | SlowTool | SlowSetup | SlowRequest

// String returns the name of what was slow, such as silent, or "" for NotSlow.
func (s Slow) String() string { return wire.Name(slowNames[:], uint8(s)) }

// Slow returns what was slow before f.
func (f *Frame) Slow() Slow {
	for s := Silent; s <= Hung; s++ {
		if f.Events.Has(slowEvents[s]) {
			return s
		}
	}
	return NotSlow
}

// A pace records the last sign of life of something that may be slow.
type pace struct {
	sessions bounded.Map[string, time.Duration] // sessions with an open turn or set-up, ordered by time
	tools    bounded.Map[callOf, uint64]        // running tool calls: Seq of the first frame about each
	since    time.Duration                      // time before this does not count against requests: the agent was waiting for the client, or it is unknown
}

// forget discards everything recorded; nothing earlier than at counts.
func (p *pace) forget(at time.Duration) {
	p.sessions.Clear()
	p.since = at
}

// runs records that a tool call is running, unless its status, as JSON, is final or the
// call is history of a restored session. It returns the call's key and the Seq of the
// first frame about it.
func (t *Tracker) runs(s *step, id, status []byte) (key callOf, began uint64) {
	key = callOf{s.annotation.Session, IDKey(id)}
	began, known := t.pace.tools.Get(key)
	if !known {
		began = s.Seq
	}
	if over, _ := t.restored.Get(key.Session); over || IsFinal(wire.Text(status)) {
		t.pace.tools.Drop(key)
	} else {
		t.pace.tools.Set(key, began)
	}
	return key, began
}

// stopTools forgets the running tool calls of a session: a new turn does not wait for
// calls that an earlier one left open. If the client has cancelled them, they may still
// fail because of that.
func (t *Tracker) stopTools(session string, cancelled bool) {
	for key := range t.pace.tools.All() {
		if key.Session != session {
			continue
		}
		if t.pace.tools.Drop(key); cancelled {
			t.failed.Set(key, true)
		}
	}
}

// maxAtWork limits how many of the newest open requests are examined: no agent works on
// more at once, and a tape may have tens of thousands that are never answered.
const maxAtWork = 256

// late returns the sessions in which f ends a slow spell, and what each was waiting for.
// A frame from either side ends a silence, whoever must answer: a client that asks for
// something else meanwhile gets an answer. The agent's stderr does not end one.
func (t *Tracker) late(f *wire.Frame) (late map[string]Slow) {
	if f.Untimed {
		t.pace.forget(f.At)
	}
	for session, heard := range t.pace.sessions.All() {
		quiet := f.At - heard
		if quiet < min(SilentLimit, SetupLimit) {
			break
		}
		if what, limit := t.waitsFor(session); what != NotSlow && quiet >= limit {
			if late == nil {
				late = map[string]Slow{}
			}
			late[session] = what
		}
	}
	return late
}

// waitsFor returns what a session is waiting for, in the same order as the parts of a
// turn (record/trace): first the user, who is asked for a permission, for input or to log
// in; then the client, which reads a file or runs a command. While the agent waits for
// these it is not slow, however long they take.
func (t *Tracker) waitsFor(session string) (Slow, time.Duration) {
	command, n := false, 0
	for key, p := range t.calls.Newest() {
		if n++; n > maxAtWork {
			break
		}
		switch c := p.Agent; {
		case c == nil || c.Session != session || key.Dir != wire.AgentToClient:
		case Does(c.Method, AwaitsExit):
			command = true
		default:
			return NotSlow, 0
		}
	}
	turn, _ := t.turns.Get(session)
	switch {
	case !turn.open():
		return SilentSetup, SetupLimit
	case turn.Cancelled:
		return NotSlow, 0
	case command:
		return SilentTool, ToolLimit
	}
	for key := range t.pace.tools.All() {
		if key.Session == session {
			return SilentTool, ToolLimit
		}
	}
	return Silent, SilentLimit
}

// answersLate returns what was slow if a frame answers a client request that is not a
// prompt.
func (t *Tracker) answersLate(f *wire.Frame, c *call) Slow {
	m := row(AnyProtocol, c.Method)
	switch {
	case f.Untimed, c.Cancelled, m.ends() != ByReceiver, Wraps(c.Method):
		return NotSlow
	case m.role().Is(Prompts|Opens) && c.Session != "": // updates of the session count instead
		return NotSlow
	}
	what, limit := Hung, HungLimit
	if m.role().Is(Opens | Initializes) {
		what, limit = SilentSetup, SetupLimit
	}
	if f.At-max(c.At, t.pace.since) < limit || t.asksOutside() {
		return NotSlow
	}
	return what
}

// asksOutside reports whether the agent waits for the client or the user outside any
// session.
func (t *Tracker) asksOutside() bool {
	n := 0
	for key, p := range t.calls.Newest() {
		if n++; n > maxAtWork {
			break
		}
		if c := p.Agent; c != nil && c.Session == "" && (key.Dir == wire.AgentToClient || row(AnyProtocol, c.Method).ends() == ByUser) {
			return true
		}
	}
	return false
}

// hear counts the next frame, already annotated, as a sign of life.
func (t *Tracker) hear(s *step) {
	session := s.annotation.Session
	switch {
	case session == "":
		if s.Dir == wire.ClientToAgent && s.annotation.Request != 0 || s.annotation.Does(TellsProgress) {
			t.pace.since = s.At
		}
		return
	case s.Untimed:
		return
	}
	if turn, _ := t.turns.Get(session); turn.open() {
		t.pace.sessions.Set(session, s.At)
		return
	}
	_, known := t.pace.sessions.Get(session)
	opens := s.annotation.Does(Opens)
	over := s.annotation.Events.Has(TurnEnded) || opens && s.annotation.Request != 0
	if opens && s.ID != nil && s.Method != nil || known && !over {
		t.pace.sessions.Set(session, s.At)
	} else if known {
		t.pace.sessions.Drop(session)
	}
}
