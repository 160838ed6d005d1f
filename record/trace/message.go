package trace

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/tidwall/gjson"
)

// A Role says whose message it is.
type Role string

// The roles.
const (
	User    Role = "user"
	Agent   Role = "agent"
	Thought Role = "thought"
)

// A Message is what the user or the agent said, or the agent thought.
type Message struct {
	Role      Role              `json:"role"`
	MessageID string            `json:"messageId,omitzero"` // empty if it has none
	Blocks    []json.RawMessage `json:"blocks"`             // content blocks; plain text that came in chunks is one block
	Meta      json.RawMessage   `json:"_meta,omitempty"`    // _meta of the whole message; nil if there is none

	joined bool // the last block is text that goes on growing
	size   int  // of a user's message: length of its text in UTF-16, which a divided surrogate pair does not change
}

// Text returns the text of m: its text blocks with nothing between.
func (m *Message) Text() string {
	if len(m.Blocks) == 1 {
		return blockText(m.Blocks[0])
	}
	var b strings.Builder
	for _, block := range m.Blocks {
		b.WriteString(blockText(block))
	}
	return b.String()
}

func blockText(block json.RawMessage) string {
	if gjson.GetBytes(block, "type").Str != "text" {
		return ""
	}
	return gjson.GetBytes(block, "text").Str
}

// chunk appends to a message.
func (c *Conversation) chunk(f *frame, role Role, u gjson.Result) *Entity {
	e := c.message(f, role, u.Get("messageId").Str)
	m := e.Message
	m.Blocks = f.joinBlock(m.Blocks, &m.joined, u.Get("content"))
	return e
}

// whole replaces what it has of a message (version 2).
func (c *Conversation) whole(f *frame, role Role, u gjson.Result) {
	m := c.message(f, role, u.Get("messageId").Str).Message
	if f.setList(&m.Blocks, u.Get("content")) {
		m.joined = false
	}
	f.setRaw(&m.Meta, u.Get("_meta"))
}

// message returns the message that an update belongs to. Without an id that is
// the run of chunks of one role, which everything else in the conversation ends.
// In version 1 agents use an id again in a later turn.
func (c *Conversation) message(f *frame, role Role, id string) *Entity {
	if id == "" {
		if e := c.growing; e != nil && e.Message.Role == role {
			c.touch(f, e)
			return e
		}
		c.growing = c.add(f, &Entity{Message: &Message{Role: role}})
		return c.growing
	}
	c.growing = nil
	var another func(e *Entity) bool
	if !f.nullClears() {
		another = c.overMessage
	}
	e := c.findUnless(f, messageKind(f, role), id, another)
	if e == nil {
		id = strings.Clone(f.clip(id))
		e = c.addAs(f, messageKind(f, role), id, &Entity{Message: &Message{Role: role, MessageID: id}})
	}
	return e
}

// overMessage reports whether what comes now cannot belong to a message: in a
// repeated history each of the user's ends where something else begins.
func (c *Conversation) overMessage(e *Entity) bool {
	if e.Message.Role == User && e.Replayed {
		return c.Changed != e
	}
	return c.past(e)
}

// messageKind returns the space of a message's id. From version 2 on it belongs
// to one message whatever the role; in version 1 a thought and the answer after
// it may share theirs.
func messageKind(f *frame, role Role) string {
	if f.nullClears() {
		return "message"
	}
	return string(role)
}

// userUpdate takes what the agent reports of the user's messages: a prompt that
// was just sent, or history.
func (c *Conversation) userUpdate(f *frame, u gjson.Result) {
	history := c.history.repeated || c.turns.late && !f.nullClears()
	switch {
	case history && c.history.known:
	case f.nullClears():
		c.report(f, u)
	case f.Update == "user_message_chunk":
		e := c.chunk(f, User, u)
		if e.Replayed = history; history && e.First == f.Seq {
			c.turns.section++
			e.section = c.turns.section
		}
		e.Message.size += utf16Len(u.Get("content.text").Str)
		c.dropEcho(f, e)
	default: // version 1 has no whole messages, but some agent may
		c.whole(f, User, u)
	}
}

// report takes a user message of version 2. A new one is the oldest prompt that
// was not reported yet, and takes its place here: what counts in the history is
// the agent's word on what the user said, when, and under which id.
func (c *Conversation) report(f *frame, u gjson.Result) {
	id := u.Get("messageId").Str
	chunk := f.Update == "user_message_chunk"
	if id != "" && !c.history.repeated && len(c.turns.unreported) > 0 && c.find(f, messageKind(f, User), id) == nil {
		prompt := c.turns.unreported[0]
		c.turns.unreported = c.turns.unreported[1:]
		c.turns.current = prompt.Turn
		c.moveToEnd(prompt)
		c.name(f, prompt, id)
		if chunk {
			prompt.Message.Blocks = nil
		}
	}
	if chunk {
		c.chunk(f, User, u)
	} else {
		c.whole(f, User, u)
	}
}

// dropEcho removes e if it only repeats the prompt of the turn, which some
// agents of version 1 do before they begin. The prompt takes over its id.
func (c *Conversation) dropEcho(f *frame, e *Entity) {
	if t := c.working(); t == nil || t.Output != 0 {
		return
	}
	for _, prompt := range c.turns.unreported {
		if prompt.Turn != c.turns.current || !e.Message.repeats(prompt.Message) {
			continue
		}
		c.remove(e)
		c.growing = nil
		c.touch(f, prompt)
		if id := e.Message.MessageID; id != "" {
			c.name(f, prompt, id)
		}
		return
	}
}

// name gives a prompt the id under which the agent reports it.
func (c *Conversation) name(f *frame, prompt *Entity, id string) {
	prompt.Message.MessageID = strings.Clone(f.clip(id))
	c.index(f, messageKind(f, User), prompt.Message.MessageID, prompt)
}

// repeats reports whether m, made of chunks, has the content of the prompt.
func (m *Message) repeats(prompt *Message) bool {
	return m.size == prompt.size && m.Text() == prompt.Text() &&
		slices.EqualFunc(m.attachments(), prompt.attachments(), slices.Equal)
}

func utf16Len(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// attachments returns the blocks that are no text.
func (m *Message) attachments() []json.RawMessage {
	var list []json.RawMessage
	for _, block := range m.Blocks {
		if gjson.GetBytes(block, "type").Str != "text" {
			list = append(list, block)
		}
	}
	return list
}
