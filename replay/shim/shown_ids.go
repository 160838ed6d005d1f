package shim

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// shownIDs are the ids by which the client knows the messages, tool calls and terminals of a
// session. No two entities of a kind are shown under one id. The agent's ids are not that
// unique: agents of version 1 use an id again in a later turn, and a new agent process
// counts from the beginning.
type shownIDs map[idKey]*shownID

// An idKey is an agent's id for a kind of entity.
type idKey struct{ kind, id string }

// A shownID says what became of an agent's id.
type shownID struct {
	count int    // how many entities have had the agent's id
	id    string // the id under which the last of them is shown
	turn  int    // the turn.number in which that entity began; -1: in history
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

// messageKind returns the kind of a message for its shown id. In version 1 a thought and the
// answer after it may have the same id.
func (r *renderer) messageKind(role trace.Role) string {
	if r.dialect == dialect.ACPv1 {
		return string(role)
	}
	return "message"
}

// maxShown limits the shown ids of a session. In a session with more, the client gets the
// agent's ids.
const maxShown = 1 << 16

// noteShown notes the shown ids of a history that the client has already.
func (r *servedRequest) noteShown(c *session, past *history) error {
	w := &renderer{dialect: r.shim.dialect, shown: shownIDs{}}
	for i := range past.parts {
		w.part = &past.parts[i]
		w.assignIDs()
	}
	return r.keepShown(c, past, w.shown)
}

// keepShown keeps the shown ids of a history for what the agent sends from now on. Ids that
// were assigned in the session since the history was read are newer and win. Version 2
// needs none of this: an id always means the same entity there.
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
		return c.withShownID(m, "tool", "params.toolCall.toolCallId", v1)
	case m.does(dialect.AsksInput):
		return c.withShownID(m, "tool", "params.toolCallId", false)
	case variant == "tool_call", variant == "tool_call_update":
		return c.withShownID(m, "tool", "params.update.toolCallId", variant == "tool_call")
	case v1 && messageRoles[variant] != "":
		return c.withShownID(m, string(messageRoles[variant]), "params.update.messageId", true)
	}
	return m
}

// messageRoles has the updates of version 1 that carry the id of a message.
var messageRoles = map[string]trace.Role{
	"user_message_chunk":  trace.User,
	"agent_message_chunk": trace.Agent,
	"agent_thought_chunk": trace.Thought,
}

// withShownID replaces the id at a path by the shown id of its entity. If mayBegin is set,
// m begins a new entity when the previous one with the id is over or was in an earlier
// turn. Package trace decides in the same way.
func (c *session) withShownID(m message, kind, path string, mayBegin bool) message {
	id := strings.Clone(get(m.Raw, path).Text()) // not a part of the frame
	u := c.shown[idKey{kind, id}]
	switch {
	case id == "", u == nil && len(c.shown) >= maxShown:
		return m
	case u == nil, mayBegin && (u.over || u.turn != c.turn.number):
		c.shown.assign(kind, "", id, c.epoch)
		u = c.shown[idKey{kind, id}]
		u.turn, u.over = c.turn.number, false
	}
	switch m.param("update.status").Text() {
	case "completed", "failed":
		u.over = true
	}
	if u.id == id {
		return m
	}
	return m.patched(path, wire.Quote(u.id))
}
