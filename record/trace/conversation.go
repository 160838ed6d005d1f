package trace

import (
	"encoding/json"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
)

// A Conversation is what was said and done in a session, merged: chunks joined,
// patches applied. It takes as much memory as the merged state, with long text
// compressed, however many updates led to it.
//
// Loading a session makes the agent send its history again. Where the history
// is known already, from an earlier tape or from earlier on this one, the
// repetition is left out; otherwise its entities are marked Replayed.
type Conversation struct {
	Turns    []*Turn   `json:"turns"`
	Entities []*Entity `json:"entities"` // in the order in which they began
	State    State     `json:"state"`    // current state
	Changed  *Entity   `json:"-"`        // what the last frame began or changed; nil: nothing yet

	byID     map[entityKey]*Entity   // the newest with each id
	earlier  map[entityKey][]*Entity // terminals whose id has been reused since, in order
	growing  *Entity                 // the message that a chunk without an id continues
	tools    map[*Entity]bool        // tool calls that are open on this tape
	rejected map[*Entity]rejection   // tool calls that the user rejected in turns that are open
	some     bool                    // an entity was ever added, even if it has since been removed
	turns    turnState
	history  historyState
	clock    *clock // of the newest tape; nil: no turn has begun on it
	costs    costState
}

// An Entity is an element of a conversation. Entities are ordered by their first
// frames, except that a prompt of version 2 is placed where the agent reports it.
// Exactly one of the pointers is set.
type Entity struct {
	Span
	Turn     int  `json:"turn"`              // number of the turn in which it began; 0: before the first
	Replayed bool `json:"replayed,omitzero"` // known only from the history that the agent repeated after a load

	Above *Entity `json:"-"`              // the tool call or the subagent that it is part of; nil: none
	Below uint64  `json:"below,omitzero"` // Seq of the first frame of Above

	section int  // of the turn
	wait    wait // of a tool call

	Message    *Message    `json:"message,omitempty"`
	ToolCall   *ToolCall   `json:"toolCall,omitempty"`
	Plan       *Plan       `json:"plan,omitempty"`
	Terminal   *Terminal   `json:"terminal,omitempty"`
	Compaction *Compaction `json:"compaction,omitempty"`
	Permission *Permission `json:"permission,omitempty"` // for something other than a tool call
	Question   *Question   `json:"question,omitempty"`
	Subagent   *Subagent   `json:"subagent,omitempty"`
	Notice     *Notice     `json:"notice,omitempty"`
	Change     *Change     `json:"change,omitempty"` // of a setting
	Other      *Other      `json:"other,omitempty"`  // an update of an unknown kind
}

// Only returns the part of c that is one turn. The result is read-only and valid until c
// changes. ok is false if there is no such turn.
func (c *Conversation) Only(turn int) (part *Conversation, ok bool) {
	one := *c
	one.Turns = slices.DeleteFunc(slices.Clone(c.Turns), func(t *Turn) bool { return t.Number != turn })
	one.Entities = slices.DeleteFunc(slices.Clone(c.Entities), func(e *Entity) bool { return e.Turn != turn })
	return &one, len(one.Turns) > 0
}

// An entityKey finds an entity by its id. From version 2 on ids are unique among
// the entities of one kind on one tape; in version 1 agents reuse them, and the
// key finds the newest.
type entityKey struct {
	run  int
	kind string
	id   string
}

// A historyState says whether the agent is repeating the history. The repetition lasts
// from the load to the next prompt, because many agents answer the load before they have
// sent everything. If the client prompts before the load is answered, it lasts until the
// answer.
type historyState struct {
	repeated   bool // updates repeat the history
	known      bool // the history was already known
	unanswered bool // the load has no answer yet; prompts wait for it
}

// historyAsked records that the client has asked the agent to repeat the history.
func (c *Conversation) historyAsked() {
	c.growing = nil
	c.history = historyState{repeated: true, known: c.some, unanswered: true}
}

// historySent records that the load was answered, or that the agent has begun to work on a
// prompt without answering the load. It moves the waiting prompts after the history.
func (c *Conversation) historySent() {
	if !c.history.unanswered {
		return
	}
	c.history.unanswered = false
	if len(c.turns.unreported) == 0 {
		return
	}
	c.turns.late, c.history.repeated = c.history.repeated, false
	c.turns.current = c.turns.unreported[0].Turn
	c.growing = nil
	for _, prompt := range c.turns.unreported {
		c.moveToEnd(prompt)
	}
}

// reopen prepares for the next tape.
func (c *Conversation) reopen() {
	c.growing = nil
	c.turns = turnState{count: c.turns.count, current: c.turns.count}
	c.history = historyState{}
	c.clock, c.costs = nil, costState{}
}

// add puts an entity at the end.
func (c *Conversation) add(f *frame, e *Entity) *Entity {
	e.Span = begin(f)
	e.Turn, e.section = c.turns.current, c.turns.section
	e.Replayed = c.history.repeated
	e.put(f.above)
	c.some = true
	if !f.trace.Brief {
		c.Entities = append(c.Entities, e)
	}
	c.Changed = e
	return e
}

// touch records that a frame changes an entity.
func (c *Conversation) touch(f *frame, e *Entity) {
	e.extend(f)
	c.Changed = e
}

// isEarlier reports whether e belongs to an earlier turn.
func (c *Conversation) isEarlier(e *Entity) bool {
	return e.Turn != c.turns.current || e.section != c.turns.section
}

// find returns the newest entity with the id, or nil if there is none on this tape.
func (c *Conversation) find(f *frame, kind, id string) *Entity {
	return c.findUnless(f, kind, id, nil)
}

// findUnless is like find, but ignores an entity for which ended returns true: its
// id is being reused. ended may be nil.
func (c *Conversation) findUnless(f *frame, kind, id string, ended func(e *Entity) bool) *Entity {
	e := c.byID[f.key(kind, id)]
	if e != nil && ended != nil && ended(e) {
		return nil
	}
	if e != nil {
		c.touch(f, e)
	}
	return e
}

// addAs puts an entity at the end and registers its id for find.
func (c *Conversation) addAs(f *frame, kind, id string, e *Entity) *Entity {
	c.add(f, e)
	c.index(f, kind, id, e)
	return e
}

func (c *Conversation) index(f *frame, kind, id string, e *Entity) {
	if c.byID == nil {
		c.byID = make(map[entityKey]*Entity)
	}
	key := f.key(kind, id)
	c.byID[key] = e
	f.trace.remember(f, key, e)
}

// remove removes an entity, searching from the end, and reports whether it was there.
func (c *Conversation) remove(e *Entity) bool {
	for i := len(c.Entities) - 1; i >= 0; i-- {
		if c.Entities[i] == e {
			c.Entities = slices.Delete(c.Entities, i, i+1)
			return true
		}
	}
	return false
}

func (c *Conversation) moveToEnd(e *Entity) {
	if c.remove(e) {
		c.Entities = append(c.Entities, e)
	}
}

// firstPrompt returns the first line that the user wrote.
func (c *Conversation) firstPrompt() string {
	for _, e := range c.Entities {
		if m := e.Message; m != nil && m.Role == User {
			if line := titleOf(m.Text()); line != "" {
				return line
			}
		}
	}
	return ""
}

// update applies a session/update.
func (s *Session) update(f *frame) {
	c := &s.Conversation
	u := f.env.Params.Get("update")
	if f.from != "" { // what follows is about the session itself
		if row, _ := dialect.LookupUpdate(f.Update); row.Entity.IsAttribute() || row.Entity == dialect.State {
			return
		}
	} else if f.Update == "current_mode_update" || f.Update == "config_option_update" {
		c.change(f, func() { c.State.update(f, u) })
		return
	} else if c.State.update(f, u) {
		switch f.Update {
		case "session_info_update":
			s.retitle(c.State.Title)
		case "usage_update":
			if !c.history.unanswered && dialect.CostOf(u.Get("cost")).Currency != "" {
				c.costs.reported(c.State.Usage.Reported)
			}
			if t := c.working(); t != nil {
				t.Usage.fill(c.State.Usage)
			}
		case "state_update":
			if f.Events.Has(dialect.TurnEnded) {
				c.endWork(f, u)
			}
		}
		return
	}
	if f.from == "" && (f.Update == "user_message_chunk" || f.Update == "user_message") {
		c.userUpdate(f, u)
		return
	}
	c.partOf(f, u)
	if t := c.output(f); t != nil {
		t.say(f, u)
		t.Usage.take(f, u)
	}
	if c.history.repeated && c.history.known && f.Update != "notice" {
		return
	}
	switch f.Update {
	case "agent_message_chunk":
		c.chunk(f, Agent, u)
	case "user_message_chunk":
		c.chunk(f, User, u)
	case "user_message":
		c.replaceMessage(f, User, u)
	case "session_message", "session_message_chunk":
		c.relay(f, u)
	case "subagent_update", "subagent_spawned", "subagent_state_update":
		c.subagent(f, u)
	case "agent_thought_chunk":
		c.chunk(f, Thought, u)
	case "agent_message":
		c.replaceMessage(f, Agent, u)
	case "agent_thought":
		c.replaceMessage(f, Thought, u)
	case "tool_call", "tool_call_update":
		c.toolCall(f, u)
	case "tool_call_content_chunk":
		c.toolCallContent(f, u)
	case "plan":
		c.plan(f, u)
	case "plan_update":
		c.planUpdate(f, u.Get("plan"))
	case "plan_removed":
		c.planRemoved(f, u)
	case "terminal_update":
		c.terminalUpdate(f, u)
	case "terminal_output_chunk":
		c.terminalOutput(f, u)
	case "compaction_update":
		c.compaction(f, u)
	case "compaction_summary_chunk":
		c.compactionSummary(f, u)
	case "notice":
		c.growing = nil
		c.add(f, &Entity{Notice: newNotice(f, u)})
	default:
		c.growing = nil
		c.add(f, &Entity{Other: &Other{Update: f.Update, Raw: f.keep(u)}})
	}
}

// An Other is an update of an unknown kind.
type Other struct {
	Update string          `json:"update"`        // its sessionUpdate; empty if it has none
	Raw    json.RawMessage `json:"raw,omitempty"` // the update as received
}
