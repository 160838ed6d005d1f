package trace

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Subagent works for the agent under its own session id. Its messages and actions are part
// of the conversation of the session that it works for, below the Subagent.
type Subagent struct {
	ID          string          `json:"sessionId"`
	Title       string          `json:"title,omitzero"`
	Description string          `json:"description,omitzero"` // its role, or its task
	State       string          `json:"state,omitzero"`       // running, requires_action, idle or unknown; in the draft of 2026-08 completed, failed, cancelled or disconnected at the end
	StopReason  string          `json:"stopReason,omitzero"`
	Error       json.RawMessage `json:"error,omitempty"`
}

// Outcome returns how the work of the subagent ended, or Running.
func (s *Subagent) Outcome() dialect.Outcome {
	switch s.State {
	case "idle":
		return dialect.OutcomeOf(s.Error, wire.Quote(s.StopReason))
	case "completed":
		return dialect.Outcome{How: dialect.Done}
	case "cancelled":
		return dialect.Outcome{How: dialect.Cancelled}
	case "failed":
		return dialect.Outcome{How: dialect.Errored}
	case "unknown", "disconnected":
		return dialect.Outcome{How: dialect.CutOff}
	}
	return dialect.Outcome{How: dialect.Running}
}

// subagent applies an update about a subagent.
func (c *Conversation) subagent(f *frame, u wire.Value) {
	id := dialect.Subagent(f.Update, wire.JSON(u.Raw()))
	e := c.find(f, subagentKind, id)
	if e == nil {
		c.growing = nil
		id = strings.Clone(f.clip(id))
		e = c.addAs(f, subagentKind, id, &Entity{Subagent: &Subagent{ID: id}})
		f.emit(f.session.subagentEvent(e, Began))
	}
	s := e.Subagent
	for _, name := range []string{"name", "title"} {
		setNullable(&s.Title, u.Get(name))
	}
	for _, name := range []string{"task", "description"} {
		setNullable(&s.Description, u.Get(name))
	}
	switch state := u.Get("state"); {
	case state.IsObject():
		s.State, s.StopReason, s.Error = "", "", nil
		f.setString(&s.State, state.Get("state"))
		f.setString(&s.StopReason, state.Get("stopReason"))
		f.setRaw(&s.Error, state.Get("error"))
	case state.Exists():
		setNullable(&s.State, state)
	default:
		return
	}
	ended := f.session.subagentEvent(e, Ended)
	switch o := s.Outcome(); o.How {
	case dialect.Running:
	case dialect.Done:
		f.emit(ended.as(Completed, ""))
	case dialect.Cancelled:
		f.emit(ended.as(Cancelled, "cancelled"))
	default:
		f.emit(ended.as(Failed, o.How.String()))
	}
}

func (s *Session) subagentEvent(e *Entity, p Phase) Event {
	return Event{Kind: SubagentEvent, Phase: p, ID: e.Subagent.ID, SessionID: s.ID, InTurn: e.Turn, Repeated: e.Replayed, Session: s, ToolCall: e}.about(&e.Span)
}

const subagentKind = "subagent"

// belong finds the subagent that sent the frame.
func (c *Conversation) belong(f *frame) {
	if id, foreign := f.Foreign(f.env.Params); foreign {
		if e := c.byID[entityKey{f.run, subagentKind, f.clip(id)}]; e != nil {
			f.from, f.above = e.Subagent.ID, e
			e.extend(f)
		}
	}
}

// partOf finds the tool call whose subagent sent an update. claude-agent-acp names it for
// clients that do not support subagents.
func (c *Conversation) partOf(f *frame, u wire.Value) {
	if f.above != nil || len(c.tools) == 0 {
		return
	}
	if id := u.Get("_meta.claudeCode.parentToolUseId").Text(); id != "" {
		f.above = c.byID[f.key("tool", id)]
	}
}

// maxDepth limits how deep entities are nested. Deeper ones are not nested.
const maxDepth = 16

// put moves e below another entity, unless that is below e.
func (e *Entity) put(above *Entity) {
	n := 0
	for one := above; one != nil; one = one.Above {
		if n++; one == e || n > maxDepth {
			return
		}
	}
	if e.Above = above; above != nil {
		e.Below = above.First
	}
}

// leadsTo puts a subagent below the tool call that started it.
func (c *Conversation) leadsTo(f *frame, call *Entity, id string) {
	if sub := c.byID[entityKey{f.run, subagentKind, f.clip(id)}]; sub != nil && call != nil {
		sub.put(call)
	}
}

// relay applies a message from one session to another. The sender's view is left out if the
// receiver has one.
func (c *Conversation) relay(f *frame, u wire.Value) {
	id := u.Get("messageId").Text()
	c.leadsTo(f, c.byID[f.key("tool", id)], u.Get("recipientSessionId").Text())
	if wire.Present([]byte(u.Get("recipientMessageId").Raw())) {
		return
	}
	m := c.message(f, Relayed, id).Message
	f.setString(&m.From, u.Get("senderSessionId"))
	f.setString(&m.To, u.Get("recipientSessionId"))
	if content := u.Get("content"); f.Update == "session_message_chunk" {
		m.Blocks.add(f, content)
	} else {
		f.setBlocks(&m.Blocks, content)
	}
}

// BySubagent reports whether e comes from a subagent or is a message between sessions.
func (e *Entity) BySubagent() bool {
	if e.Message != nil && e.Message.Role == Relayed {
		return true
	}
	for e = e.Above; e != nil; e = e.Above {
		if e.Subagent != nil {
			return true
		}
	}
	return false
}

// Depth returns the number of entities above e.
func (e *Entity) Depth() (n int) {
	for e = e.Above; e != nil; e = e.Above {
		n++
	}
	return n
}

// InPlace returns entities in display order: each after the one above it, if that is in the
// list.
func InPlace(list []*Entity) []*Entity {
	below := map[*Entity][]*Entity{}
	for _, e := range list {
		if e.Above != nil {
			below[e.Above] = append(below[e.Above], e)
		}
	}
	if len(below) == 0 {
		return list
	}
	placed, done := make([]*Entity, 0, len(list)), map[*Entity]bool{}
	var place func(e *Entity)
	place = func(e *Entity) {
		if done[e] {
			return
		}
		done[e] = true
		placed = append(placed, e)
		for _, one := range below[e] {
			place(one)
		}
	}
	there := map[*Entity]bool{}
	for _, e := range list {
		there[e] = true
	}
	for _, e := range list {
		if !there[e.Above] {
			place(e)
		}
	}
	return placed
}

func (p *printer) subagent(e *Entity) {
	s, o := e.Subagent, e.Subagent.Outcome()
	look, end := termtext.Tools, oneLine(o.String())
	if o.How.IsBad() {
		look = termtext.Failure
	}
	if o.How != dialect.Running {
		end += e.took()
	}
	p.head(e, look, join("subagent ·", cmp.Or(s.Title, s.ID))+" ["+end+"]")
	p.body(indent, termtext.Dim, s.Description)
}

// Correspondents returns the sender and receiver of a Relayed message.
func (c *Conversation) Correspondents(e *Entity) string {
	name := func(id string) string {
		if sub := c.byID[entityKey{e.Run, subagentKind, id}]; sub != nil {
			return cmp.Or(sub.Subagent.Title, id)
		}
		return "the agent"
	}
	return join("message from", name(e.Message.From), "to", name(e.Message.To))
}
