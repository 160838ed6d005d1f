package shim

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// newUpdate begins an update of a variant.
func newUpdate(variant string) members { return members(nil).text("sessionUpdate", variant) }

// chunked reports whether messages are sent in chunks and tool calls begin with tool_call.
func (r *renderer) chunked() bool {
	return r.dialect == dialect.ACPv1 || r.dialect == dialect.ACPv2Early && r.part.earlyDraft
}

// entity makes the updates that show an entity. It makes none for questions, notices, and
// anything the dialect lacks.
func (r *renderer) entity(e *trace.Entity) [][]byte {
	switch {
	case e.Message != nil:
		return r.message(e.Message, r.entityIDs[e])
	case e.ToolCall != nil:
		return r.toolCall(e)
	case e.Plan != nil:
		return r.plan(e.Plan)
	case e.Terminal != nil && r.dialect == dialect.ACPv2 && r.source == dialect.ACPv2:
		return r.terminal(nil, e, e.Terminal.ID)
	case e.Compaction != nil:
		return r.compaction(e.Compaction)
	case e.Other != nil && v2(r.dialect) && r.source == r.dialect && e.Other.Update != "":
		return [][]byte{e.Other.Raw}
	}
	return nil
}

// roles has the update prefix for each role, and the letter used in ids made for its
// messages.
var roles = map[trace.Role]struct{ update, letter string }{
	trace.User:    {"user_message", "u"},
	trace.Agent:   {"agent_message", "a"},
	trace.Thought: {"agent_thought", "t"},
}

// messageID returns a message's id, and makes one if the agent gave it none.
func (r *renderer) messageID(m *trace.Message) string {
	if m.MessageID != "" {
		return m.MessageID
	}
	letter := roles[m.Role].letter
	r.unnamed[letter]++
	return fmt.Sprint(letter, r.unnamed[letter])
}

// message makes the updates of a message. They always have an id; otherwise a client
// would join two consecutive messages.
func (r *renderer) message(m *trace.Message, id string) [][]byte {
	role := roles[m.Role]
	var blocks []json.RawMessage
	for _, block := range m.Blocks.All() {
		switch {
		case string(block) == trace.Cut:
			blocks = append(blocks, members(nil).text("type", "text").text("text", notStored).object())
		case !emptyText(block):
			blocks = append(blocks, block)
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	if !r.chunked() {
		return [][]byte{newUpdate(role.update).text("messageId", id).add("content", array(blocks)).add("_meta", m.Meta).object()}
	}
	var list [][]byte
	for _, block := range blocks {
		list = append(list, newUpdate(role.update+"_chunk").text("messageId", id).add("content", block).object())
	}
	return list
}

// notStored replaces content that is too large to be read whole from the tape.
const notStored = "[too large to be shown again]"

func emptyText(block json.RawMessage) bool {
	return wire.ValueAt(block, "type").Text() == "text" && wire.ValueAt(block, "text").Text() == ""
}

// toolCall makes the update of a tool call. In version 2, updates of the terminals in its
// content come first.
func (r *renderer) toolCall(e *trace.Entity) (list [][]byte) {
	t := e.ToolCall
	var content []json.RawMessage
	for _, item := range t.Content {
		if id := wire.ValueAt(item, "terminalId").Text(); r.dialect == dialect.ACPv2 && wire.ValueAt(item, "type").Text() == "terminal" {
			list = r.terminal(list, e, id)
		}
		content = append(content, r.content(e, item))
	}
	u := newUpdate("tool_call_update")
	if r.chunked() {
		u = newUpdate("tool_call")
	}
	u = u.text("toolCallId", r.entityIDs[e]).text("title", title(t)).text("name", t.Name).
		text("kind", t.Kind).text("status", r.status(e.Run, t.Status))
	if content != nil {
		u = u.add("content", array(content))
	}
	if t.Locations != nil {
		u = u.add("locations", array(t.Locations))
	}
	return append(list, u.add("rawInput", t.RawInput).add("rawOutput", t.RawOutput).add("_meta", t.Meta).object())
}

// title returns a tool call's title or a substitute: a tool call known only from a
// permission request may have none.
func title(t *trace.ToolCall) string { return cmp.Or(t.Title, t.Name, t.ID) }

// status returns the status to show for a tool call. In the history, an unfinished call
// counts as cancelled or failed: it will not continue.
func (r *renderer) status(run int, status string) string {
	switch {
	case run == r.part.live:
		return status
	case status == "cancelled" && !v2(r.dialect):
		return "failed"
	case dialect.IsFinal(status):
		return status
	case v2(r.dialect):
		return "cancelled"
	}
	return "failed"
}

// content converts an item of a tool call's content to the dialect.
func (r *renderer) content(e *trace.Entity, item json.RawMessage) json.RawMessage {
	switch wire.ValueAt(item, "type").Text() {
	case wire.ValueAt(trace.Cut, "type").Text():
		return textItem(notStored)
	case "terminal":
		id := wire.ValueAt(item, "terminalId").Text()
		switch {
		case e.Run == r.part.live && r.dialect != dialect.ACPv2:
			return item
		case r.dialect == dialect.ACPv2:
			return set(item, "terminalId", wire.Quote(r.terminalID(e, id)))
		default:
			return textItem(terminalText(r.part.Terminal(e, id)))
		}
	case "diff":
		switch old, v2diff := wire.ValueAt(item, "path"), wire.ValueAt(item, "changes"); {
		case r.dialect == dialect.ACPv2 && old.Exists():
			return changes(item)
		case r.dialect != dialect.ACPv2 && v2diff.Exists():
			return textItem(changesText(item))
		}
	}
	return item
}

func textItem(text string) json.RawMessage {
	block := members(nil).text("type", "text").add("text", wire.Quote(text)).object()
	return members(nil).text("type", "content").add("content", block).object()
}

// changes converts a diff of version 1 to version 2.
func changes(item json.RawMessage) json.RawMessage {
	operation := "modify"
	if wire.ValueAt(item, "oldText").IsNull() {
		operation = "add"
	}
	change := members(nil).text("operation", operation).add("path", []byte(wire.ValueAt(item, "path").Raw())).object()
	return members(nil).text("type", "diff").add("changes", array([]json.RawMessage{change})).object()
}

// changesText returns a diff of version 2 as text: the patch, or else which file was
// changed and how.
func changesText(item json.RawMessage) string {
	if patch := wire.ValueAt(item, "patch.text").Text(); patch != "" {
		return patch
	}
	text := ""
	wire.ValueAt(item, "changes").ForEach(func(_, c wire.Value) bool {
		text += c.Get("operation").Text() + " " + c.Get("path").Text() + "\n"
		return true
	})
	return text
}

// plan makes the update that shows a plan in its final state.
func (r *renderer) plan(p *trace.Plan) [][]byte {
	entries := wire.ValueAt(p.Raw, "entries")
	switch {
	case p.Removed, p.Raw == nil:
		return nil
	case r.dialect == dialect.ACPv1 && (p.ID == "" || !r.supports.plans):
		if !entries.IsArray() {
			return nil
		}
		return [][]byte{newUpdate("plan").add("entries", []byte(entries.Raw())).object()}
	}
	key := "planId"
	if r.dialect == dialect.ACPv2Early {
		key = "id"
	}
	id := cmp.Or(p.ID, "plan")
	plan, named := members(nil), false
	wire.ValueOf(p.Raw).ForEach(func(name, v wire.Value) bool {
		if name.Text() != "id" && name.Text() != "planId" {
			plan = plan.add(name.Text(), []byte(v.Raw()))
		} else if !named {
			plan, named = plan.text(key, r.prefix+id), true
		}
		return true
	})
	if !named {
		plan = plan.text(key, r.prefix+id)
	}
	return [][]byte{newUpdate("plan_update").add("plan", plan.object()).object()}
}

// compaction makes the update that shows a compaction in its final state. An unfinished
// one counts as cancelled.
func (r *renderer) compaction(c *trace.Compaction) [][]byte {
	if r.dialect == dialect.ACPv1 && !r.supports.compaction || r.dialect == dialect.ACPv2Early {
		return nil
	}
	status := c.Status
	if status == "" || status == "in_progress" {
		status = "cancelled"
	}
	u := newUpdate("compaction_update").text("compactionId", r.prefix+c.ID).text("status", status)
	if !c.Summary.Empty() && status == "completed" {
		u = u.add("summary", array(c.Summary.All()))
	}
	return [][]byte{u.add("error", c.Error).add("_meta", c.Meta).object()}
}
