// Package steps models how the time of a session was spent: a start-up before its first turn
// on a tape, and then its turns. Each has steps with a beginning, an end and a kind, some of
// them nested, and a lane of waits, which says what it waited for at each instant. All views
// that draw turns over time use this package.
//
// The package stores nothing and reads no clock.
package steps

import (
	"cmp"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// A Step is an activity with a duration. Times are those of the Trace, since the tape began.
type Step struct {
	Span
	Kind    Kind
	Frame   uint64 // Seq of its first frame
	Open    bool   // it has no end; To is now, or the end of the tape
	Untimed bool   // From or To is unknown
	Failed  bool   // or the user refused it

	// What the step is about; at most one is set.
	Entity *trace.Entity
	Call   *trace.Call
	Server *nested.Joined
	Starts *nested.Tape // a server that is starting

	Asked *trace.Permission // the permission that Call asked for, or nil
	Below []*Step           // in the order in which they began
}

// A Kind is the kind of a Step.
type Kind uint8

// The kinds.
const (
	SetUp  Kind = iota // the client sets the connection or the session up
	Starts             // a server starts
	Thinks             // also planning and compacting
	Says
	Tool   // a tool call, a command in a terminal, or a subagent
	Client // the client does something for the agent
	User   // the user is asked
	Server // a server works on a call from the agent
)

// Took returns how long the step took.
func (s *Step) Took() time.Duration {
	if s.Server != nil && !s.Open {
		return s.Server.Took()
	}
	return s.To - s.From
}

// Single reports whether the step is one frame.
func (s *Step) Single() bool {
	return s.From == s.To || s.Entity != nil && s.Entity.First == s.Entity.Last
}

// A Phase is a turn, or the start-up before the first turn on a tape.
type Phase struct {
	Step
	Turn  *trace.Turn  // nil: a start-up
	Steps []*Step      // in the order in which they began
	Waits []trace.Wait // they cover the phase; empty if it is Untimed
}

// Spend returns how the time of a phase was spent.
func (p *Phase) Spend() (sum trace.Spend) {
	for _, w := range p.Waits {
		sum = sum.Plus(w.Spend())
	}
	return sum
}

// A Source holds the data from which phases are built.
type Source struct {
	Trace *trace.Trace
	Calls *nested.Join            // of servers; nil: none
	Start func(run int) time.Time // the time of day at which a tape began; zero: unknown

	// Until returns when a tape ended: at its last frame, or now if it is being recorded. Open
	// steps last until then.
	Until func(run int) time.Duration
}

// A Session builds the phases of a session.
type Session struct {
	Source
	of       *trace.Session
	own      map[*trace.Terminal]bool
	entities map[int][]*trace.Entity // by turn
	asked    map[int][]*trace.Call   // by turn
}

// Session returns a Session. It is valid until the next frame is added to the Trace.
func (s Source) Session(of *trace.Session) *Session {
	one := &Session{Source: s, of: of, own: of.Conversation.OwnTerminals(), entities: map[int][]*trace.Entity{}, asked: map[int][]*trace.Call{}}
	for _, e := range of.Conversation.Entities {
		one.entities[e.Turn] = append(one.entities[e.Turn], e)
	}
	turns := of.Conversation.Turns
	for _, c := range s.Trace.Calls {
		if c.Dir != wire.AgentToClient || c.Session != of.ID {
			continue
		}
		for len(turns) > 0 && (turns[0].Run < c.Run || turns[0].Run == c.Run && !turns[0].Open() && turns[0].End < c.Request) {
			turns = turns[1:]
		}
		if len(turns) > 0 && turns[0].Run == c.Run && turns[0].Prompt < c.Request {
			one.asked[turns[0].Number] = append(one.asked[turns[0].Number], c)
		}
	}
	return one
}

// Session returns the session.
func (s *Session) Session() *trace.Session { return s.of }

// Entities returns the entities of a turn; number 0 is before the first turn.
func (s *Session) Entities(number int) []*trace.Entity { return s.entities[number] }

// Prompt returns the first message from the user in a turn, or "" if unknown.
func (s *Session) Prompt(number int) string {
	for _, e := range s.entities[number] {
		if e.Message != nil && e.Message.Role == trace.User {
			return e.Message.Text()
		}
	}
	return ""
}

// Owned reports whether an entity is a terminal that is shown with its tool call.
func (s *Session) Owned(e *trace.Entity) bool { return e.Terminal != nil && s.own[e.Terminal] }

// Phases returns all phases in order.
func (s *Session) Phases() []*Phase {
	var list []*Phase
	for _, t := range s.of.Conversation.Turns {
		if p := s.StartUp(t); p != nil {
			list = append(list, p)
		}
		list = append(list, s.Turn(t))
	}
	return list
}

// End returns when a turn ended. An open turn lasts until the end of its tape.
func (s Source) End(t *trace.Turn) time.Duration {
	if t.Open() {
		return max(t.Ended, s.Until(t.Run))
	}
	return t.Ended
}

// Servers returns the tapes of the servers that were started for a session, or all of them if
// there is no other session.
func (s Source) Servers(of *trace.Session) []*nested.Tape {
	if len(s.Trace.Sessions) == 1 {
		return s.Calls.Tapes
	}
	return s.Calls.Servers(of.ID)
}

// inOrder sorts steps and their descendants by beginning.
func inOrder(list []*Step) {
	slices.SortStableFunc(list, func(a, b *Step) int { return cmp.Compare(a.From, b.From) })
	for _, one := range list {
		inOrder(one.Below)
	}
}
