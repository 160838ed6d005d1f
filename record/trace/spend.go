package trace

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Spend is what the time of a turn was spent on waiting for. The parts add up to the
// turn: at each instant the first counts that is waited for. Times are those of the
// middle, so they include the pipes.
type Spend struct {
	User   time.Duration // a permission, or an elicitation
	Client time.Duration // files, starting and reading a terminal, any other request of the agent's
	Tool   time.Duration // a tool call, or a command in a terminal
	Agent  time.Duration // the agent itself and its model
}

// Sum returns all of it.
func (s Spend) Sum() time.Duration { return s.User + s.Client + s.Tool + s.Agent }

// Plus returns the spend of two turns.
func (s Spend) Plus(o Spend) Spend {
	return Spend{s.User + o.User, s.Client + o.Client, s.Tool + o.Tool, s.Agent + o.Agent}
}

// Spend returns what the time of the turn was spent on, up to its end, or up to now if
// it is open. now is since the tape began. It means nothing if the turn is Untimed, and
// if times on the tape go backwards it adds up to more than the turn.
func (t *Turn) Spend(now time.Duration) Spend {
	if t.clock == nil {
		return t.spent.spend()
	}
	ahead := *t.clock
	ahead.keeps = false
	ahead.advance(now)
	return ahead.spent.since(t.began).spend()
}

// A Pace is how the work on a turn went on.
type Pace struct {
	Text      uint64        // Seq of the first text that the agent said; 0: none
	FirstText time.Duration // when that came, since the tape began
	Chunks    int           // of what the agent said and thought
	Streaming time.Duration // of the agent's time, from the first chunk to the last

	// A silence is what is dialect.Silent.
	Silences int
	Silence  time.Duration // the longest
	Before   uint64        // Seq of the frame before the longest
}

// A Part is what is waited for. The first of those that are counts.
type Part uint8

// The parts of a turn.
const (
	ForUser Part = iota
	ForClient
	ForTool
	ForAgent // if for nothing else
	parts
)

// PartOf returns what is waited for while a request of the agent's is open.
func PartOf(method string) Part {
	switch role := dialect.RoleOf(dialect.AnyProtocol, method); {
	case role.Is(dialect.AsksUser):
		return ForUser
	case role.Is(dialect.AwaitsExit):
		return ForTool
	}
	return ForClient
}

// Working returns the turn that is worked on, and what it waits for now; nil if no turn
// is open.
func (c *Conversation) Working() (*Turn, Part) {
	t := c.working()
	if t == nil || t.clock == nil {
		return nil, ForAgent
	}
	return t, t.clock.part()
}

// The times are how long each part was waited for.
type times [parts]time.Duration

func (t times) since(before times) times {
	for p := range t {
		t[p] -= before[p]
	}
	return t
}

func (t times) spend() Spend { return Spend{t[ForUser], t[ForClient], t[ForTool], t[ForAgent]} }

// A clock divides the time of a session, on one tape, among the parts. A turn takes
// what was on it when it began from what is on it when it ends, so that several turns
// at once cost no more than one.
type clock struct {
	spent times
	at    time.Duration // up to here
	open  [ForAgent]int // how many of each part are waited for
	work  int           // number of the turn that the work began with, while no other was open
	last  uint64        // Seq of the last frame of the session
	heard time.Duration // the time of ForAgent when that came

	keeps  bool   // it keeps its course
	course []Wait // what was waited for, in order
}

// A wait is something that a clock has counted as open. What was left open when work
// begins is not waited for in it: a permission of a turn before that nobody has
// answered would make all turns wait for the user.
type wait struct {
	part Part
	work int // 0: not counted
}

func (k *clock) advance(to time.Duration) {
	if to <= k.at {
		return
	}
	k.spent[k.part()] += to - k.at
	k.note(to)
	k.at = to
}

// part returns what is waited for now.
func (k *clock) part() Part {
	p := ForUser
	for p < ForAgent && k.open[p] == 0 {
		p++
	}
	return p
}

// begin counts a wait as open. k may be nil: no turn has begun.
func (k *clock) begin(f *frame, w *wait, p Part) {
	if k == nil || w.work == k.work {
		return
	}
	k.advance(f.At)
	k.open[p]++
	*w = wait{p, k.work}
}

// end counts a wait as over, if it is counted.
func (k *clock) end(f *frame, w *wait) {
	if k == nil || w.work != k.work {
		return
	}
	k.advance(f.At)
	k.open[w.part]--
	*w = wait{}
}

// A meter is what a turn knows of the clock.
type meter struct {
	clock   *clock        // nil: the turn has ended
	began   times         // on the clock, when the turn began
	chunked time.Duration // for the agent on the clock, when the first chunk came
	first   int           // place in the course of the clock, when the turn began
	spent   times         // when it has ended
	waits   []Wait        // when it has ended
}

// start begins to measure a turn. alone says that no other is open.
func (c *Conversation) start(f *frame, t *Turn, alone bool) {
	if c.clock == nil {
		c.clock = &clock{at: f.At, keeps: !f.trace.Brief}
		c.clock.hear(f)
	}
	c.clock.advance(f.At)
	if alone {
		c.clock.work, c.clock.open = t.Number, [ForAgent]int{}
	}
	t.clock, t.began, t.first = c.clock, c.clock.spent, max(len(c.clock.course)-1, 0)
}

// stop ends the measuring of a turn, with its last frame. One that has ended before was
// waited for until now: version 2 has agents that say idle, and answer the prompt late.
func (c *Conversation) stop(f *frame, t *Turn) {
	if t.clock == nil {
		t.spent[ForAgent] += max(t.Ended-t.Began-t.Spend(0).Sum(), 0)
		return
	}
	t.clock.advance(f.At)
	over := meter{spent: t.clock.spent.since(t.began)}
	if t.clock.keeps {
		over.waits = covering(t.clock.waits(t.first, t.Ended), t.Began, t.Ended)
	}
	t.meter = over
}

// hear notes that a frame of the session came. If that ends a silence, the turn that
// is worked on has it.
func (c *Conversation) hear(f *frame) {
	k := c.clock
	if k == nil {
		return
	}
	k.advance(f.At)
	if t := c.working(); t != nil && f.Slow() == dialect.Silent {
		if silent := k.spent[ForAgent] - k.heard; silent > t.Pace.Silence {
			t.Pace.Silence, t.Pace.Before = silent, k.last
		}
		t.Pace.Silences++
	}
	k.hear(f)
}

func (k *clock) hear(f *frame) { k.last, k.heard = f.Seq, k.spent[ForAgent] }

// Rate returns how many chunks came in a second, of those after the first. ok is false if
// that cannot be told.
func (p *Pace) Rate() (perSecond float64, ok bool) {
	if p.Chunks < 2 || p.Streaming <= 0 {
		return 0, false
	}
	return float64(p.Chunks-1) / p.Streaming.Seconds(), true
}

// say notes an update of the agent's.
func (t *Turn) say(f *frame, u wire.Value) {
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
	if p := &t.Pace; p.Text == 0 && hasText(u.Get("content")) {
		p.Text, p.FirstText = f.Seq, f.At
	}
}

func (t *Turn) chunk() {
	worked := t.clock.spent[ForAgent]
	if t.Pace.Chunks++; t.Pace.Chunks == 1 {
		t.chunked = worked
	}
	t.Pace.Streaming = worked - t.chunked
}

// hasText reports whether a block, or one of several, is text that is not empty.
func hasText(content wire.Value) bool {
	for block := range elements(content) {
		if hasText(block) {
			return true
		}
	}
	return content.Get("text").Text() != ""
}

// asks begins the wait for the client's answer to a request of the agent's.
func (c *Conversation) asks(f *frame, w *pendingCall) {
	if f.Dir == wire.AgentToClient {
		c.clock.begin(f, &w.wait, PartOf(f.Method))
	}
}

// waitForTool begins the wait for a tool call. It runs from the first frame about it:
// many agents never say that it is in progress.
func (c *Conversation) waitForTool(f *frame, call *Entity) {
	if !call.Replayed {
		c.clock.begin(f, &call.wait, ForTool)
	}
}
