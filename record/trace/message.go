package trace

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/acptap/acptap/proxy/wire"
)

// A Role is the author of a message.
type Role string

// The roles.
const (
	User    Role = "user"
	Agent   Role = "agent"
	Thought Role = "thought"
	Relayed Role = "session" // from one session to another: a subagent's task, or its report
)

// A Message is something that the user or the agent said, or that the agent thought.
type Message struct {
	Role      Role            `json:"role"`
	MessageID string          `json:"messageId,omitzero"` // empty if it has none
	From      string          `json:"from,omitzero"`      // of a Relayed message: the sending session
	To        string          `json:"to,omitzero"`        // of a Relayed message: the receiving session
	Blocks    Blocks          `json:"blocks"`
	Meta      json.RawMessage `json:"_meta,omitempty"` // _meta of the whole message; nil if there is none

	size int // of a user message: length of its text in UTF-16, which a divided surrogate pair does not change
}

// Text returns the text of m: its text blocks, concatenated.
func (m *Message) Text() string {
	blocks := m.Blocks.All()
	if len(blocks) == 1 {
		return blockText(blocks[0])
	}
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(blockText(block))
	}
	return b.String()
}

func blockText(block json.RawMessage) string {
	if wire.JSON(block).Get("type").Text() != "text" {
		return ""
	}
	return wire.JSON(block).Get("text").Text()
}

// chunk appends to a message.
func (c *Conversation) chunk(f *frame, role Role, u wire.Value) *Entity {
	e := c.message(f, role, u.Get("messageId").Text())
	e.Message.Blocks.add(f, u.Get("content"))
	return e
}

// replaceMessage replaces the content of a message (version 2).
func (c *Conversation) replaceMessage(f *frame, role Role, u wire.Value) {
	m := c.message(f, role, u.Get("messageId").Text()).Message
	f.setBlocks(&m.Blocks, u.Get("content"))
	f.setRaw(&m.Meta, u.Get("_meta"))
}

// message returns the message that an update belongs to. Chunks without an id belong to
// the same message until anything but a chunk of the same role arrives. In version 1
// agents reuse ids in later turns.
func (c *Conversation) message(f *frame, role Role, id string) *Entity {
	if id == "" {
		if e := c.growing; e != nil && e.Message.Role == role && e.Above == f.above {
			c.touch(f, e)
			return e
		}
		c.growing = c.add(f, &Entity{Message: &Message{Role: role}})
		return c.growing
	}
	c.growing = nil
	var another func(e *Entity) bool
	if !f.nullClears() {
		another = c.isOverMessage
	}
	e := c.findUnless(f, messageKind(f, role), id, another)
	if e == nil {
		id = strings.Clone(f.clip(id))
		e = c.addAs(f, messageKind(f, role), id, &Entity{Message: &Message{Role: role, MessageID: id}})
	}
	return e
}

// isOverMessage reports whether a message is complete, so that its id is being reused. In
// a repeated history a user message is complete as soon as anything else arrives.
func (c *Conversation) isOverMessage(e *Entity) bool {
	if e.Message.Role == User && e.Replayed {
		return c.Changed != e
	}
	return c.isEarlier(e)
}

// messageKind returns the namespace of a message's id. From version 2 on an id is
// unique among all messages; in version 1 a thought and the answer that follows it
// may share one.
func messageKind(f *frame, role Role) string {
	if f.nullClears() {
		return "message"
	}
	return string(role)
}

// userUpdate applies a user message that the agent reports: a prompt that was just sent, or
// part of the history.
func (c *Conversation) userUpdate(f *frame, u wire.Value) {
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
		e.Message.size += utf16Len(u.Get("content.text").Text())
		c.dropEcho(f, e)
	default: // version 1 has no whole messages, but some agents may send them
		c.replaceMessage(f, User, u)
	}
}

// report applies a user message of version 2. A message with a new id is the oldest
// prompt not yet reported, and report moves that prompt here. The agent decides the
// content, order and ids of the user messages in the history.
func (c *Conversation) report(f *frame, u wire.Value) {
	id := u.Get("messageId").Text()
	chunk := f.Update == "user_message_chunk"
	if id != "" && !c.history.repeated && len(c.turns.unreported) > 0 && c.find(f, messageKind(f, User), id) == nil {
		prompt := c.turns.unreported[0]
		c.turns.unreported = c.turns.unreported[1:]
		c.turns.current = prompt.Turn
		c.moveToEnd(prompt)
		c.name(f, prompt, id)
		if chunk {
			prompt.Message.Blocks = Blocks{}
		}
	}
	if chunk {
		c.chunk(f, User, u)
	} else {
		c.replaceMessage(f, User, u)
	}
}

// dropEcho removes e if it merely repeats the turn's prompt, as some version 1 agents do
// before starting to work. The prompt inherits its id.
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

// name assigns a prompt the id under which the agent reports it.
func (c *Conversation) name(f *frame, prompt *Entity, id string) {
	prompt.Message.MessageID = strings.Clone(f.clip(id))
	c.index(f, messageKind(f, User), prompt.Message.MessageID, prompt)
}

// repeats reports whether m, made of chunks, has the same content as the prompt.
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

// attachments returns the blocks that are not text.
func (m *Message) attachments() []json.RawMessage {
	var list []json.RawMessage
	for _, block := range m.Blocks.All() {
		if wire.JSON(block).Get("type").Text() != "text" {
			list = append(list, block)
		}
	}
	return list
}
