package trace

import (
	"cmp"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// times is the time spent waiting for each part.
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
	work  int           // number of the last turn that began while none, or only cancelled ones, were open
	since settled       // the time spent on tools since then may still be charged to the agent
	last  uint64        // Seq of the last frame of the session
	heard time.Duration // spent[ForAgent] when that frame came

	keeps  bool   // whether to keep course
	course []Wait // past waits, in order
}

// A settled is a time up to which the time spent is final.
type settled struct {
	at   time.Duration
	tool time.Duration // spent[ForTool] then
}

func (k *clock) settle() { k.since = settled{k.at, k.spent[ForTool]} }

// A wait is something that a clock counts as open. Waits left open when new work begins no
// longer count: otherwise an unanswered permission of an earlier turn would charge all later
// turns to the user. A prompt begins new work if all open turns have been cancelled, because
// clients send it without waiting for the agent to confirm that.
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
	if *w = (wait{p, k.work}); p == ForTool {
		k.settle()
	}
}

// end counts a wait as ended, if it is counted.
func (k *clock) end(f *frame, w *wait) {
	if k == nil || w.work != k.work {
		return
	}
	k.advance(f.At)
	k.open[w.part]--
	if w.part == ForTool {
		k.settle()
	}
	*w = wait{}
}

// prepared records that the agent was still writing the tool's input. If no other tool is
// waited for, nothing has been running.
func (k *clock) prepared(f *frame, w *wait) {
	if k == nil || w.work != k.work {
		return
	}
	k.advance(f.At)
	if took := k.spent[ForTool] - k.since.tool; took > 0 && k.open[ForTool] == 1 {
		k.spent[ForTool] -= took
		k.spent[ForAgent] += took
		k.rewrite()
	}
	k.settle()
}

// rewrite charges the tool waits since the settled time to the agent.
func (k *clock) rewrite() {
	i, _ := slices.BinarySearchFunc(k.course, k.since.at, func(w Wait, at time.Duration) int { return cmp.Compare(w.To, at+1) })
	if i < len(k.course) && k.course[i].From < k.since.at {
		k.course = slices.Insert(k.course, i, k.course[i])
		k.course[i].To, k.course[i+1].From = k.since.at, k.since.at
		i++
	}
	for ; i < len(k.course); i++ {
		if k.course[i].Part == ForTool {
			k.course[i].Part = ForAgent
		}
	}
}

// A meter measures a turn with the session's clock.
type meter struct {
	clock   *clock        // nil: the turn has ended
	began   times         // clock.spent when the turn began
	chunked time.Duration // clock.spent[ForAgent] when the first chunk came
	first   int           // index in clock.course when the turn began
	spent   times         // set when the turn has ended
	waits   []Wait        // set when the turn has ended
}

// start begins to measure a turn.
func (c *Conversation) start(f *frame, t *Turn) {
	if c.clock == nil {
		c.clock = &clock{at: f.At, keeps: !f.trace.Brief}
		c.clock.hear(f)
	}
	c.clock.advance(f.At)
	if !slices.ContainsFunc(c.turns.open, func(one *Turn) bool { return !one.Cancelled }) {
		c.clock.work, c.clock.open = t.Number, [ForAgent]int{}
	}
	c.clock.settle()
	t.clock, t.began, t.first = c.clock, c.clock.spent, max(len(c.clock.course)-1, 0)
}

// stop ends the measuring of a turn at its last frame. If the turn had ended before, the time
// since then is charged to the agent: some version 2 agents report idle and answer the prompt
// later.
func (c *Conversation) stop(f *frame, t *Turn) {
	if t.clock == nil {
		t.spent[ForAgent] += max(t.Ended-t.Began-t.Spend(0).Sum(), 0)
		return
	}
	t.clock.advance(f.At)
	t.clock.settle()
	over := meter{spent: t.clock.spent.since(t.began)}
	if t.clock.keeps {
		over.waits = covering(t.clock.waits(t.first, t.Ended), t.Began, t.Ended)
	}
	t.meter = over
}

// hear records that a frame of the session arrived. If that ends a silence, hear counts it for
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

// asks starts the wait for the client's answer to an agent request.
func (c *Conversation) asks(f *frame, w *pendingCall) {
	if f.Dir == wire.AgentToClient {
		c.clock.begin(f, &w.wait, PartOf(f.Method))
	}
}

// waitForTool starts the wait for a tool call at its first frame, because many agents never
// report in_progress. A later frame may show that the call was only being prepared.
func (c *Conversation) waitForTool(f *frame, call *Entity) {
	if !call.Replayed {
		c.clock.begin(f, &call.wait, ForTool)
	}
}

// prepared records that the agent was still writing the input of a tool call until now, unless
// the user has already agreed to the call.
func (c *Conversation) prepared(f *frame, call *Entity) {
	if call.Replayed || call.ToolCall.ready.granted {
		return
	}
	c.clock.prepared(f, &call.wait)
	call.ToolCall.ready.at = f.At
	if t := c.openTurn(call.Turn); t != nil {
		call.ToolCall.ready.asked = t.Spend(f.At).User
	}
}

// A ready is when a tool call could start running.
type ready struct {
	at      time.Duration // 0: at its first frame, as far as is known
	asked   time.Duration // how long the user had been asked in its turn
	granted bool          // the user has agreed
}

// Ready returns when a tool call could start running, because its input was complete.
func (e *Entity) Ready() time.Duration { return max(e.Began, e.ToolCall.ready.at) }

// A ToolClock measures how long tool calls took from when they could run, without the time
// spent asking the user. The zero value is ready to use.
type ToolClock struct {
	running map[subject]running // open calls
}

// A running is what a ToolClock knows of an open call.
type running struct {
	asked time.Duration // how long the user had been asked in its turn when the call began
	took  time.Duration // until the user rejected it; negative: not rejected, or the rejection was undone
}

// A subject identifies what an event is about.
type subject struct {
	run   int
	first uint64
	entry int
}

// Observe handles an event of a tool call. turn is the newest turn in its session, or nil. ok
// is true if the event ends the call for the first time and the call is not part of a repeated
// history. The caller must check how it ended.
func (c *ToolClock) Observe(e *Event, turn *Turn) (took time.Duration, ok bool) {
	about := subject{e.Run, e.First, e.Entry}
	asked := time.Duration(0)
	if turn != nil && turn.Number == e.InTurn {
		asked = turn.Spend(e.At).User
	}
	call, open := c.running[about]
	took = e.At - e.ToolCall.Ready() - max(asked-max(call.asked, e.ToolCall.ToolCall.ready.asked), 0)
	switch e.Phase {
	case Began:
		if c.running == nil {
			c.running = map[subject]running{}
		}
		c.running[about] = running{asked, -1}
	case Changed:
		if !open {
			break
		}
		if call.took = -1; e.ToolCall.ToolCall.Rejected {
			call.took = max(took, 0)
		}
		c.running[about] = call
	case Ended:
		delete(c.running, about)
		if e.ToolCall.ToolCall.Rejected && call.took >= 0 {
			took = call.took
		}
		return took, open && !e.Repeated
	}
	return 0, false
}

// A Wait is a part of a turn in which the turn waited for one thing. Times are since the
// tape began.
type Wait struct {
	Part     Part
	From, To time.Duration
	Quiet    bool // ForAgent without a frame in the session: the agent waited for its model
}

// Took returns how long the wait took.
func (w Wait) Took() time.Duration { return w.To - w.From }

// Spend returns the wait as a Spend.
func (w Wait) Spend() Spend {
	var t times
	t[w.Part] = w.Took()
	return t.spend()
}

// QuietTime is the shortest time without a frame that makes a wait quiet.
const QuietTime = 100 * time.Millisecond

// maxQuiet limits the course of a session: once it has this many waits, no more waits are
// marked quiet.
const maxQuiet = 1 << 14

// Waits returns what the turn waited for, in order. The waits cover the turn up to its end,
// or up to now if it is open, without gaps or overlaps. Where times on the tape go
// backwards, each instant counts once. A brief Trace keeps none.
func (t *Turn) Waits(now time.Duration) []Wait {
	switch {
	case t.clock == nil && t.waits == nil, t.clock != nil && !t.clock.keeps:
		return nil
	case t.clock == nil:
		return covering(t.waits, t.Began, t.Ended)
	}
	return covering(t.clock.waits(t.first, now), t.Began, max(now, t.Ended))
}

// covering returns the parts of waits between from and to, and charges gaps to the agent.
func covering(waits []Wait, from, to time.Duration) []Wait {
	list, at := []Wait{}, from
	add := func(w Wait) {
		if w.From, w.To = max(w.From, at), min(w.To, to); w.From < w.To {
			list, at = append(list, w), w.To
		}
	}
	for _, w := range waits {
		add(Wait{ForAgent, at, w.From, false})
		add(w)
	}
	add(Wait{ForAgent, at, to, false})
	return list
}

// note records what was pending since the clock was last advanced.
func (k *clock) note(to time.Duration) {
	if !k.keeps {
		return
	}
	w := Wait{Part: k.part(), From: k.at, To: to}
	w.Quiet = w.Part == ForAgent && w.Took() >= QuietTime && len(k.course) < maxQuiet
	if n := len(k.course); n > 0 && !w.Quiet && !k.course[n-1].Quiet && k.course[n-1].Part == w.Part {
		k.course[n-1].To = to
		return
	}
	k.course = append(k.course, w)
}

// waits returns the course from an index on, up to now.
func (k *clock) waits(first int, now time.Duration) []Wait {
	ahead := *k
	ahead.course = append([]Wait(nil), k.course[min(first, len(k.course)):]...)
	ahead.advance(now)
	return ahead.course
}
