package trace

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// A Turn is the work on one prompt: from session/prompt to its response in
// version 1, to the state_update that says idle in version 2. In version 2 one
// stretch of work may be for several prompts; their turns then end together.
type Turn struct {
	Span
	Number      int             `json:"number"`               // in the session, from 1
	Prompt      uint64          `json:"prompt"`               // Seq of the session/prompt
	End         uint64          `json:"end,omitzero"`         // Seq of the frame that ended it; 0 while it is open
	StopReason  string          `json:"stopReason,omitzero"`  // empty while it is open, and where the agent gave none
	Error       json.RawMessage `json:"error,omitempty"`      // of the prompt's response; nil if there is none
	Cancelled   bool            `json:"cancelled,omitzero"`   // the client cancelled it
	Output      uint64          `json:"output,omitzero"`      // Seq of the agent's first update or request in it; 0: none yet
	FirstOutput time.Duration   `json:"firstOutput,omitzero"` // when that came, since the tape began

	accepted bool // version 2: the prompt was answered, the work may go on
}

// Open reports whether the turn has no end (yet).
func (t *Turn) Open() bool { return t.End == 0 }

// A turnState says which turns are under way.
type turnState struct {
	current    int       // number of the turn that what happens now belongs to; 0 before the first
	section    int       // in a repeated history, where no prompts are: messages of the user that have come
	unreported []*Entity // prompts that the agent has not reported as user messages
	late       bool      // the first prompt after a load is without output: more of the history may come
}

func (c *Conversation) turn() *Turn {
	if c.turns.current == 0 {
		return nil
	}
	return c.Turns[c.turns.current-1]
}

// working reports whether a turn is open on the tape of f.
func (c *Conversation) working(f *frame) bool {
	t := c.turn()
	return t != nil && t.Open() && t.Run == f.run
}

func (c *Conversation) extend(f *frame) {
	if c.working(f) {
		c.turn().extend(f)
	}
}

// prompt begins a turn. What the user said is taken from here until the agent
// reports it.
func (c *Conversation) prompt(f *frame) {
	t := &Turn{Span: begin(f), Number: len(c.Turns) + 1, Prompt: f.Seq}
	queued := c.working(f) || c.history.unanswered
	c.Turns = append(c.Turns, t)
	c.growing = nil
	if !c.history.unanswered {
		c.turns.late, c.history.repeated = c.history.repeated, false
	}
	if !queued {
		c.turns.current = t.Number
	}
	m := &Message{Role: User, Blocks: f.list(f.params().Get("prompt"))}
	m.size = utf16Len(m.Text())
	e := c.add(f, &Entity{Message: m})
	e.Turn, e.Replayed = t.Number, false
	c.turns.unreported = append(c.turns.unreported, e)
}

// output notes that the agent has begun to work on the turn.
func (c *Conversation) output(f *frame) {
	if !c.working(f) {
		return
	}
	if t := c.turn(); t.Output == 0 {
		t.Output, t.FirstOutput = f.Seq, f.At
		c.turns.late = false
	}
}

// cancel marks the turn of a prompt.
func (c *Conversation) cancel(run int, prompt uint64) {
	if t := c.turnOf(run, prompt); t != nil {
		t.Cancelled = true
	}
}

func (c *Conversation) turnOf(run int, prompt uint64) *Turn {
	for _, t := range slices.Backward(c.Turns) {
		if t.Run == run && t.Prompt == prompt {
			return t
		}
	}
	return nil
}

// endPrompt ends the turn of a prompt with the response to it.
func (c *Conversation) endPrompt(f *frame, prompt uint64) {
	t := c.turnOf(f.run, prompt)
	if t == nil {
		return
	}
	c.historySent()
	if f.Failed {
		t.Error = f.keep(gjson.ParseBytes(f.env.Error))
	}
	c.end(f, t, f.result().Get("stopReason"))
}

// accept takes the response of version 2 to a prompt, which ends nothing.
func (c *Conversation) accept(f *frame, prompt uint64) {
	if t := c.turnOf(f.run, prompt); t != nil {
		t.accepted = true
	}
}

// endWork ends the turns of the prompts that were accepted: the agent is idle.
// Without one it may have done the work before it answered.
func (c *Conversation) endWork(f *frame, stopReason gjson.Result) {
	var accepted, sent []*Turn
	for _, t := range c.Turns {
		switch {
		case t.Run != f.run || !t.Open():
		case t.accepted:
			accepted = append(accepted, t)
		default:
			sent = append(sent, t)
		}
	}
	if accepted == nil {
		accepted = sent
	}
	for _, t := range accepted {
		c.end(f, t, stopReason)
	}
}

func (c *Conversation) end(f *frame, t *Turn, stopReason gjson.Result) {
	t.extend(f)
	t.End = f.Seq
	f.setString(&t.StopReason, stopReason)
	c.growing = nil
	c.turns.late = false
	c.turns.unreported = slices.DeleteFunc(c.turns.unreported, func(e *Entity) bool { return e.Turn == t.Number })
	if t.Number != c.turns.current {
		return
	}
	for _, next := range c.Turns[t.Number:] {
		if next.Open() {
			c.turns.current = next.Number
			return
		}
	}
}
