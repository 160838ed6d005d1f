package shim

import (
	"fmt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// shownIDs are the ids by which the client knows a session's messages, tool calls and
// terminals. No two entities of a kind are shown under one id. The agent's ids are not
// that unique: agents of version 1 reuse ids in later turns, and a new agent process
// counts from the beginning.
type shownIDs map[idKey]*shownID

// An idKey is an agent's id for a kind of entity.
type idKey struct{ kind, id string }

// A shownID records how an agent's id has been used.
type shownID struct {
	count int    // number of entities that have had the agent's id
	id    string // the id under which the latest of them is shown
	turn  int    // turn.number when that entity began; -1: in history
	over  bool   // that entity is a tool call that has ended
}

// assign returns the id under which to show the next entity with an agent's id. The first
// entity keeps the id, with the prefix.
func (ids shownIDs) assign(kind, prefix, id string, epoch int) string {
	u := ids[idKey{kind, prefix + id}]
	if u == nil {
		u = &shownID{}
		ids[idKey{kind, prefix + id}] = u
	}
	u.count++
	u.id, u.turn = prefix+id, -1
	for ; u.count > 1; u.count++ {
		u.id = fmt.Sprintf("h%d-%d.%s", epoch, u.count, id)
		if key := (idKey{kind, u.id}); ids[key] == nil {
			ids[key] = &shownID{count: 1, id: u.id}
			break
		}
	}
	return u.id
}

// assignIDs assigns shown ids to the entities of the part.
func (r *renderer) assignIDs() {
	r.entityIDs, r.terminalIDs = map[*trace.Entity]string{}, map[*trace.Terminal]string{}
	for e := range r.part.entities() {
		r.enter(e)
		epoch := r.part.first + e.Run
		switch {
		case e.Message != nil:
			r.entityIDs[e] = r.shown.assign(r.messageKind(e.Message.Role), r.prefix, r.messageID(e.Message), epoch)
		case e.ToolCall != nil:
			r.entityIDs[e] = r.shown.assign("tool", r.prefix, e.ToolCall.ID, epoch)
		case e.Terminal != nil:
			r.terminalIDs[e.Terminal] = r.shown.assign("terminal", r.prefix, e.Terminal.ID, epoch)
		}
	}
}

// messageKind returns the kind under which a message's id is shown. In version 1 a
// thought and the answer after it may have the same id.
func (r *renderer) messageKind(role trace.Role) string {
	if r.dialect == dialect.ACPv1 {
		return string(role)
	}
	return "message"
}

// maxShown limits the shown ids of a session. Beyond it the client gets the agent's ids.
const maxShown = 1 << 16

// noteShown notes the shown ids of a history that the client already has.
func (r *servedRequest) noteShown(c *session, past *history) error {
	w := &renderer{dialect: r.shim.dialect, shown: shownIDs{}}
	for i := range past.parts {
		w.part = &past.parts[i]
		w.assignIDs()
	}
	return r.keepShown(c, past, w.shown)
}

// keepShown keeps the shown ids of a history for what the agent sends from now on. Ids
// assigned since the history was read are newer and win. Version 2 needs none of this:
// there an id always means the same entity.
func (r *servedRequest) keepShown(c *session, past *history, shown shownIDs) error {
	if r.shim.dialect == dialect.ACPv2 {
		return nil
	}
	return r.do(func(out []wire.Frame) []wire.Frame {
		for key, newer := range c.shown {
			if u := shown[key]; u == nil || newer.count > u.count {
				shown[key] = newer
			}
		}
		if c.shown = shown; len(shown) > maxShown {
			c.shown = nil
		}
		c.epoch = past.epochs()
		return out
	})
}

// withShownIDs returns a message of the agent with shown ids in place of the agent's.
func (c *session) withShownIDs(m message, d dialect.Dialect) message {
	v1 := d == dialect.ACPv1
	switch variant := m.param("update.sessionUpdate").Text(); {
	case m.does(dialect.AsksPermission):
		return c.withShownID(m, "tool", "toolCall.toolCallId", v1)
	case m.does(dialect.AsksInput):
		return c.withShownID(m, "tool", "toolCallId", false)
	case variant == "tool_call", variant == "tool_call_update":
		return c.withShownID(m, "tool", "update.toolCallId", variant == "tool_call")
	case v1 && messageRoles[variant] != "":
		return c.withShownID(m, string(messageRoles[variant]), "update.messageId", true)
	}
	return m
}

// messageRoles maps the updates of version 1 that carry a message's id to roles.
var messageRoles = map[string]trace.Role{
	"user_message_chunk":  trace.User,
	"agent_message_chunk": trace.Agent,
	"agent_thought_chunk": trace.Thought,
}

// withShownID replaces the id at a path in params with the shown id of its entity. If
// mayBegin is set, m begins a new entity when the previous one with the id has ended or
// was in an earlier turn. Package trace decides the same way.
func (c *session) withShownID(m message, kind, path string, mayBegin bool) message {
	id := m.param(path).Text()
	u := c.shown[idKey{kind, id}]
	switch {
	case id == "", u == nil && len(c.shown) >= maxShown:
		return m
	case u == nil, mayBegin && (u.over || u.turn != c.turn.number):
		c.shown.assign(kind, "", id, c.epoch)
		u = c.shown[idKey{kind, id}]
		u.turn, u.over = c.turn.number, false
	}
	if dialect.IsFinal(m.param("update.status").Text()) {
		u.over = true
	}
	if u.id == id {
		return m
	}
	return m.patched("params."+path, wire.Quote(u.id))
}
