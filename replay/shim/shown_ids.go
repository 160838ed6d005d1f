package shim

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// shownIDs are the ids under which the client is shown the entities of a session. No two
// entities of a kind have the same id. The agent's ids are not unique: agents of version 1
// use an id again in a later turn, and a new agent process counts from the beginning.
type shownIDs map[idKey]*idUse

// An idKey is an id of a kind of entity, as the agent gives it.
type idKey struct{ kind, id string }

// An idUse is what became of an id.
type idUse struct {
	count int    // how many entities have had it
	name  string // the id by which the last of them is shown
	turn  int    // in which that entity began, by turn.number; -1: in history
	over  bool   // that entity is a tool call that has ended
}

// give returns the id by which the next entity with an id is shown. The first entity keeps
// the id, with the prefix.
func (n shownIDs) give(kind, prefix, id string, epoch int) string {
	u := n[idKey{kind, prefix + id}]
	if u == nil {
		u = &idUse{}
		n[idKey{kind, prefix + id}] = u
	}
	u.count++
	u.name, u.turn = prefix+id, -1
	for ; u.count > 1; u.count++ {
		u.name = fmt.Sprintf("h%d-%d.%s", epoch, u.count, id)
		if key := (idKey{kind, u.name}); n[key] == nil {
			n[key] = &idUse{count: 1, name: u.name}
			break
		}
	}
	return u.name
}

// labels are the ids of the entities of a part in a replay.
type labels struct {
	entities  map[*trace.Entity]string // messages and tool calls
	terminals map[*trace.Terminal]string
}

// label gives ids to the entities of the part.
func (r *renderer) label() {
	r.labels = labels{map[*trace.Entity]string{}, map[*trace.Terminal]string{}}
	for e := range r.part.entities() {
		r.enter(e)
		epoch := r.part.first + e.Run
		switch {
		case e.Message != nil:
			r.labels.entities[e] = r.names.give(r.messageKind(e.Message.Role), r.prefix, r.messageID(e.Message), epoch)
		case e.ToolCall != nil:
			r.labels.entities[e] = r.names.give("tool", r.prefix, e.ToolCall.ID, epoch)
		case e.Terminal != nil:
			r.labels.terminals[e.Terminal] = r.names.give("terminal", r.prefix, e.Terminal.ID, epoch)
		}
	}
}

// messageKind returns what the id of a message must be unique among. In version
// 1 a thought and the answer after it may share theirs.
func (r *renderer) messageKind(role trace.Role) string {
	if r.dialect == dialect.ACPv1 {
		return string(role)
	}
	return "message"
}

// maxNames is how many ids of a session are made unique. In a session with more, the ids
// stay as the agent gives them.
const maxNames = 1 << 16

// recall remembers the ids of a history that the client has, and is not sent.
func (v *servedRequest) recall(c *session, past *history) error {
	r := &renderer{dialect: v.own.dialect, names: shownIDs{}}
	for i := range past.parts {
		r.part = &past.parts[i]
		r.label()
	}
	return v.remember(c, past, r.names)
}

// remember keeps the ids that the client has been shown, and those that were given in the
// session since then, which are newer. Version 2 does not need that: an id there always
// means the same entity.
func (v *servedRequest) remember(c *session, past *history, known shownIDs) error {
	if v.own.dialect == dialect.ACPv2 {
		return nil
	}
	return v.act(func(out []wire.Frame) []wire.Frame {
		for key, old := range c.names {
			if u := known[key]; u == nil || old.count > u.count {
				known[key] = old
			}
		}
		if c.names = known; len(known) > maxNames {
			c.names = nil
		}
		c.epoch = past.epochs()
		return out
	})
}

// renamed returns what the agent sends for a session that was loaded, with the
// ids by which the client knows it: an id that another entity has had is changed.
func (s *Shim) renamed(c *session, m message, method string) message {
	v1 := s.own.dialect == dialect.ACPv1
	switch variant := m.param("update.sessionUpdate").Text(); {
	case method == "session/request_permission":
		return c.renamedAt(m, "tool", "params.toolCall.toolCallId", v1)
	case method == "elicitation/create":
		return c.renamedAt(m, "tool", "params.toolCallId", false)
	case variant == "tool_call", variant == "tool_call_update":
		return c.renamedAt(m, "tool", "params.update.toolCallId", variant == "tool_call")
	case v1 && messages[variant] != "":
		return c.renamedAt(m, string(messages[variant]), "params.update.messageId", true)
	}
	return m
}

// messages are the updates of version 1 that carry the id of a message.
var messages = map[string]trace.Role{
	"user_message_chunk":  trace.User,
	"agent_message_chunk": trace.Agent,
	"agent_thought_chunk": trace.Thought,
}

// renamedAt renames the entity whose id stands at a path. begins says that this is a new
// entity if the previous one with the id is over or of an earlier turn, as in trace.
func (c *session) renamedAt(m message, kind, path string, begins bool) message {
	id := strings.Clone(get(m.Raw, path).Text()) // not a part of the frame
	u := c.names[idKey{kind, id}]
	switch {
	case id == "", u == nil && len(c.names) >= maxNames:
		return m
	case u == nil, begins && (u.over || u.turn != c.number):
		c.names.give(kind, "", id, c.epoch)
		u = c.names[idKey{kind, id}]
		u.turn, u.over = c.number, false
	}
	switch m.param("update.status").Text() {
	case "completed", "failed":
		u.over = true
	}
	if u.name == id {
		return m
	}
	return m.patched(path, quote(u.name))
}
