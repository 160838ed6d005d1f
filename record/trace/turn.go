package trace

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Turn is the work on one prompt. In version 1 it lasts from session/prompt to the response;
// in version 2, until a state_update with idle. In version 2 the agent may work on several
// prompts at once; their turns then end together.
type Turn struct {
	Span
	Number      int             `json:"number"`               // in the session, from 1
	Prompt      uint64          `json:"prompt"`               // Seq of the session/prompt
	End         uint64          `json:"end,omitzero"`         // Seq of the frame that ended it; 0 while open
	StopReason  string          `json:"stopReason,omitzero"`  // empty while open, and if the agent gave none
	Error       json.RawMessage `json:"error,omitempty"`      // of the prompt's response; nil if there is none
	Cancelled   bool            `json:"cancelled,omitzero"`   // the client cancelled it
	Output      uint64          `json:"output,omitzero"`      // Seq of the agent's first message, thought, tool call, plan or request in it; 0: none yet
	FirstOutput time.Duration   `json:"firstOutput,omitzero"` // when that came, since the tape began

	Model      string          `json:"-"` // of the session when the turn began; empty: unknown
	Outcome    dialect.Outcome `json:"-"`
	Title      string          `json:"-"` // first line of the prompt, cut to 80 characters
	Asked      string          `json:"-"` // beginning of the prompt's text
	CancelSent time.Duration   `json:"-"` // when the client first cancelled it, since the tape began
	Pace       Pace            `json:"-"`
	Work       Work            `json:"-"`
	Usage      TurnUsage       `json:"-"`
	LastCalls  []*ToolCall     `json:"-"` // the tool calls that began last, in order; at most maxLastCalls

	answer   quote
	accepted bool // version 2: the prompt was answered, but the work may continue
	meter
}

// Open reports whether the turn has no end yet.
func (t *Turn) Open() bool { return t.End == 0 }

// maxLastCalls limits the tool calls of a turn that a brief Trace remembers.
const maxLastCalls = 3

// maxOpenTurns limits the open turns of a session that are remembered.
const maxOpenTurns = 1 << 12

// A turnState tracks which turns are open.
type turnState struct {
	count      int       // turns that have begun, on all tapes
	current    int       // number of the turn that new frames belong to; 0 before the first
	open       []*Turn   // on this tape, in order
	last       *Turn     // that has begun; nil: none
	section    int       // in a repeated history, which has no prompts: number of user messages so far
	unreported []*Entity // prompts that the agent has not reported as user messages
	late       bool      // the first prompt after a load has no output yet, so more history may follow
}

// forget removes a turn from the open ones and emits that it is Forgotten.
func (c *Conversation) forget(f *frame, t *Turn) {
	c.stop(f, t)
	t.Outcome = dialect.Outcome{How: dialect.CutOff}
	f.emit(f.session.turnEvent(t, Ended).as(Forgotten, ""))
	c.close(t)
}

func (c *Conversation) close(t *Turn) {
	c.turns.open = slices.DeleteFunc(c.turns.open, func(one *Turn) bool { return one == t })
	c.turns.unreported = slices.DeleteFunc(c.turns.unreported, func(e *Entity) bool { return e.Turn == t.Number })
}

// working returns the current turn if it is open on this tape, otherwise nil.
func (c *Conversation) working() *Turn { return c.openTurn(c.turns.current) }

// openTurn returns the turn of that number if it is open on this tape, otherwise nil.
func (c *Conversation) openTurn(number int) *Turn {
	for _, t := range c.turns.open {
		if t.Number == number {
			return t
		}
	}
	return nil
}

func (c *Conversation) extend(f *frame) {
	if t := c.working(); t != nil {
		t.extend(f)
	}
}

// prompt begins a turn. The text of the prompt is used until the agent reports the
// message itself.
func (c *Conversation) prompt(f *frame) *Turn {
	queued := c.working() != nil || c.history.unanswered
	c.turns.count++
	t := &Turn{Span: begin(f), Number: c.turns.count, Prompt: f.Seq, Outcome: dialect.Outcome{How: dialect.Running}, Model: cmp.Or(c.State.ModelOption, c.State.Model), Title: f.promptTitle(), Asked: f.asked()}
	if strings.HasPrefix(t.Asked, t.Title) {
		t.Title = t.Asked[:len(t.Title)] // shares the memory of Asked
	}
	if !f.trace.Brief {
		c.Turns = append(c.Turns, t)
	}
	if last := c.turns.last; last != nil {
		last.answer.shorten()
	}
	c.turns.last = t
	if len(c.turns.open) == maxOpenTurns {
		c.forget(f, c.turns.open[0])
	}
	c.start(f, t)
	c.costs.begin(t, len(c.turns.open) == 0)
	c.turns.open = append(c.turns.open, t)
	f.emit(f.session.turnEvent(t, Began))
	c.growing = nil
	if !c.history.unanswered {
		c.turns.late, c.history.repeated = c.history.repeated, false
	}
	if !queued {
		c.turns.current = t.Number
	}
	m := &Message{Role: User}
	m.Blocks.set(f, f.list(f.params().Get("prompt")))
	m.size = utf16Len(m.Text())
	e := c.add(f, &Entity{Message: m})
	e.Turn, e.Replayed = t.Number, false
	c.turns.unreported = append(c.turns.unreported, e)
	return t
}

// output records that the agent is working. It returns the current turn, or nil if that is not
// open.
func (c *Conversation) output(f *frame) *Turn {
	t := c.working()
	if t == nil || t.Output != 0 {
		return t
	}
	c.turns.late = false
	if f.Kind == wire.Request || isOutput(f.Update) {
		t.Output, t.FirstOutput = f.Seq, f.At
		f.emit(f.session.turnEvent(t, Changed))
	}
	return t
}

// isOutput reports whether an update is output that the user waits for. A notice, for example
// about an overloaded model, is not.
func isOutput(variant string) bool {
	u, _ := dialect.LookupUpdate(variant)
	switch u.Entity {
	case dialect.AgentMessage, dialect.Thought, dialect.ToolCall, dialect.Plan:
		return true
	}
	return false
}

// cancel marks a turn as cancelled by the client.
func (c *Conversation) cancel(f *frame, t *Turn) {
	if !t.Cancelled {
		t.Cancelled, t.CancelSent = true, f.At
	}
	f.emit(f.session.turnEvent(t, Changed))
}

// endPrompt ends the turn of a prompt with the response to it.
func (c *Conversation) endPrompt(f *frame, t *Turn) {
	c.historySent()
	if f.Failed {
		t.Error = f.keep(f.env.Error.Value())
	}
	t.Usage.answered(f.result())
	c.end(f, t, f.result().Get("stopReason"))
}

// endWork ends the turns whose prompts were accepted, because the agent is idle. If none was
// accepted, the agent finished before answering, and endWork ends all open turns.
func (c *Conversation) endWork(f *frame, u wire.Value) {
	var accepted, sent []*Turn
	for _, t := range c.turns.open {
		if t.accepted {
			accepted = append(accepted, t)
		} else {
			sent = append(sent, t)
		}
	}
	if accepted == nil {
		accepted = sent
	}
	if len(accepted) == 1 { // with several turns it is unknown which one used these tokens
		accepted[0].Usage.answered(u)
	}
	for _, t := range accepted {
		c.end(f, t, u.Get("stopReason"))
	}
}

func (c *Conversation) end(f *frame, t *Turn, stopReason wire.Value) {
	t.extend(f)
	t.End = f.Seq
	c.stop(f, t)
	f.setString(&t.StopReason, stopReason)
	if t.Outcome.How == dialect.Running { // it may end again
		t.Outcome = dialect.OutcomeOf(f.env.Error, []byte(stopReason.Raw()))
	}
	c.growing = nil
	c.turns.late = false
	c.close(t)
	c.endTools(f, t)
	f.emit(f.session.turnEnded(f, t))
	if t.Number != c.turns.current {
		return
	}
	for _, next := range c.turns.open {
		if next.Number > t.Number {
			c.turns.current = next.Number
			return
		}
	}
}
