package trace

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Spend divides the duration of a turn by what the turn waited for. The parts add up to the
// turn: each instant is charged to the first of these that is pending. acptap measures between
// client and agent, so times include the pipes.
type Spend struct {
	User   time.Duration // a permission, or an elicitation
	Client time.Duration // files, starting and reading a terminal, any other request from the agent
	Tool   time.Duration // a tool call, or a command in a terminal
	Agent  time.Duration // the agent itself and its model
}

// Sum returns the sum of the parts.
func (s Spend) Sum() time.Duration { return s.User + s.Client + s.Tool + s.Agent }

// Plus returns the sum of two spends.
func (s Spend) Plus(o Spend) Spend {
	return Spend{s.User + o.User, s.Client + o.Client, s.Tool + o.Tool, s.Agent + o.Agent}
}

// Spend returns how the time of the turn was spent, up to its end, or up to now if it is
// open. now is since the tape began. The result is meaningless if the turn is Untimed,
// and exceeds the turn if times on the tape go backwards.
func (t *Turn) Spend(now time.Duration) Spend {
	if t.clock == nil {
		return t.spent.spend()
	}
	ahead := *t.clock
	ahead.keeps = false
	ahead.advance(now)
	return ahead.spent.since(t.began).spend()
}

// A Pace describes how the work on a turn progressed.
type Pace struct {
	Text      uint64        // Seq of the first text from the agent; 0: none
	FirstText time.Duration // when that arrived, since the tape began
	Chunks    int           // of messages and thoughts
	Streaming time.Duration // the agent's time from the first chunk to the last

	// dialect.Silent defines a silence.
	Silences int
	Silence  time.Duration // the longest
	Before   uint64        // Seq of the frame before the longest
}

// A Part is what a turn waits for. If several are pending, the first counts.
type Part uint8

// The parts of a turn.
const (
	ForUser Part = iota
	ForClient
	ForTool
	ForAgent // if nothing else is pending
	parts
)

// PartOf returns the Part that an open request from the agent makes pending.
func PartOf(method string) Part {
	switch role := dialect.RoleOf(dialect.AnyProtocol, method); {
	case role.Is(dialect.AsksUser):
		return ForUser
	case role.Is(dialect.AwaitsExit):
		return ForTool
	}
	return ForClient
}

// Working returns the turn that is being worked on, and what it is waiting for, or nil if
// no turn is open.
func (c *Conversation) Working() (*Turn, Part) {
	t := c.working()
	if t == nil || t.clock == nil {
		return nil, ForAgent
	}
	return t, t.clock.part()
}

// Waiting returns the number of open turns and what they wait for.
func (c *Conversation) Waiting() (turns int, part Part) {
	if c.clock == nil || len(c.turns.open) == 0 {
		return 0, ForAgent
	}
	return len(c.turns.open), c.clock.part()
}

// Rate returns the chunks per second, not counting the first chunk. ok is false if the rate is
// unknown.
func (p *Pace) Rate() (perSecond float64, ok bool) {
	if p.Chunks < 2 || p.Streaming <= 0 {
		return 0, false
	}
	return float64(p.Chunks-1) / p.Streaming.Seconds(), true
}

// say counts an update from the agent.
func (t *Turn) say(f *frame, u wire.Value) {
	t.answer.add(f, u)
	switch f.Update {
	case "agent_thought_chunk":
		t.chunk()
		return
	case "agent_message_chunk":
		t.chunk()
	case "agent_message":
	default:
		return
	}
	if p := &t.Pace; p.Text == 0 {
		for range texts(u.Get("content")) {
			p.Text, p.FirstText = f.Seq, f.At
			break
		}
	}
}

func (t *Turn) chunk() {
	worked := t.clock.spent[ForAgent]
	if t.Pace.Chunks++; t.Pace.Chunks == 1 {
		t.chunked = worked
	}
	t.Pace.Streaming = worked - t.chunked
}
