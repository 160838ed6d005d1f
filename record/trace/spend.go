package trace

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Spend divides the time of a turn by what the turn waited for. The parts add up to the
// turn: each instant is charged to the first of these that is pending. Acptap measures
// between client and agent, so times include the pipes.
type Spend struct {
	User   time.Duration // a permission, or an elicitation
	Client time.Duration // files, starting and reading a terminal, any other request of the agent's
	Tool   time.Duration // a tool call, or a command in a terminal
	Agent  time.Duration // the agent itself and its model
}

// Sum returns the sum of the parts.
func (s Spend) Sum() time.Duration { return s.User + s.Client + s.Tool + s.Agent }

// Plus returns the spend of two turns.
func (s Spend) Plus(o Spend) Spend {
	return Spend{s.User + o.User, s.Client + o.Client, s.Tool + o.Tool, s.Agent + o.Agent}
}

// Spend returns how the time of the turn was spent, up to its end, or up to now if it is
// open. now is since the tape began. The result means nothing if the turn is Untimed, and
// exceeds the turn if times on the tape go backwards.
func (t *Turn) Spend(now time.Duration) Spend {
	if t.clock == nil {
		return t.spent.spend()
	}
	ahead := *t.clock
	ahead.keeps = false
	ahead.advance(now)
	return ahead.spent.since(t.began).spend()
}

// A Pace is how the work on a turn progressed.
type Pace struct {
	Text      uint64        // Seq of the first text that the agent said; 0: none
	FirstText time.Duration // when that came, since the tape began
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

// PartOf returns the Part that an open request of the agent's makes pending.
func PartOf(method string) Part {
	switch role := dialect.RoleOf(dialect.AnyProtocol, method); {
	case role.Is(dialect.AsksUser):
		return ForUser
	case role.Is(dialect.AwaitsExit):
		return ForTool
	}
	return ForClient
}

// Working returns the turn that is being worked on, and what it waits for now; nil if no
// turn is open.
func (c *Conversation) Working() (*Turn, Part) {
	t := c.working()
	if t == nil || t.clock == nil {
		return nil, ForAgent
	}
	return t, t.clock.part()
}

// times is how long each part was waited for.
type times [parts]time.Duration

func (t times) since(before times) times {
	for p := range t {
		t[p] -= before[p]
	}
	return t
}

func (t times) spend() Spend { return Spend{t[ForUser], t[ForClient], t[ForTool], t[ForAgent]} }

// A clock divides the time of a session, on one tape, among the parts. The spend of a turn
// is the difference between the clock's at its end and at its beginning, so measuring
// several turns at once costs no more than measuring one.
type clock struct {
	spent times
	at    time.Duration // the time to which the clock has advanced
	open  [ForAgent]int // number of open waits of each part
	work  int           // number of the last turn that began while no other was open
	last  uint64        // Seq of the last frame of the session
	heard time.Duration // spent[ForAgent] when that frame came

	keeps  bool   // whether to keep the course
	course []Wait // past waits, in order
}

// A wait is something that a clock has counted as open. Waits left open when new work
// begins no longer count: otherwise an unanswered permission of an earlier turn would
// charge all later turns to the user.
type wait struct {
	part Part
	work int // clock.work when it was counted; 0: not counted
}

func (k *clock) advance(to time.Duration) {
	if to <= k.at {
		return
	}
	k.spent[k.part()] += to - k.at
	k.note(to)
	k.at = to
}

// part returns the part that time is charged to now.
func (k *clock) part() Part {
	p := ForUser
	for p < ForAgent && k.open[p] == 0 {
		p++
	}
	return p
}

// begin counts a wait as open. k is nil if no turn has begun.
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

// A meter measures a turn by the clock.
type meter struct {
	clock   *clock        // nil: the turn has ended
	began   times         // clock.spent when the turn began
	chunked time.Duration // clock.spent[ForAgent] when the first chunk came
	first   int           // index in clock.course when the turn began
	spent   times         // set when the turn has ended
	waits   []Wait        // set when the turn has ended
}

// start begins to measure a turn. alone says that no other turn is open.
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

// stop ends the measuring of a turn at its last frame. If the turn had ended before, the
// time since then is charged to the agent: some agents of version 2 say idle and answer the
// prompt late.
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

// hear notes that a frame of the session came. If that ends a silence, hear counts it for
// the current turn.
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

// Rate returns the chunks per second, without the first chunk. ok is false if that is
// unknown.
func (p *Pace) Rate() (perSecond float64, ok bool) {
	if p.Chunks < 2 || p.Streaming <= 0 {
		return 0, false
	}
	return float64(p.Chunks-1) / p.Streaming.Seconds(), true
}

// say counts an update of the agent's.
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

// hasText reports whether a content block, or one of several, has text that is not empty.
func hasText(content wire.Value) bool {
	for block := range elements(content) {
		if hasText(block) {
			return true
		}
	}
	return content.Get("text").Text() != ""
}

// asks starts the wait for the client's answer to a request of the agent's.
func (c *Conversation) asks(f *frame, w *pendingCall) {
	if f.Dir == wire.AgentToClient {
		c.clock.begin(f, &w.wait, PartOf(f.Method))
	}
}

// waitForTool starts the wait for a tool call at the first frame about it: many agents
// never say that it is in progress.
func (c *Conversation) waitForTool(f *frame, call *Entity) {
	if !call.Replayed {
		c.clock.begin(f, &call.wait, ForTool)
	}
}
