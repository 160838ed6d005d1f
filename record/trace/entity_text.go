package trace

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

const indent = "  "

func (p *printer) entity(e *Entity) {
	p.margin = strings.Repeat(indent, e.Depth())
	switch {
	case e.Message != nil:
		p.message(e)
	case e.ToolCall != nil:
		p.toolCall(e)
	case e.Plan != nil:
		p.plan(e)
	case e.Terminal != nil:
		p.head(e, termtext.Services, "terminal")
		p.terminal(indent, e.Terminal)
	case e.Compaction != nil:
		p.head(e, termtext.Conversation, join("compaction", e.Compaction.Status))
		for _, block := range e.Compaction.Summary.All() {
			p.block(indent, termtext.Dim, block)
		}
		p.body(indent, termtext.Failure, string(e.Compaction.Error))
	case e.Permission != nil:
		p.head(e, termtext.Permission, join("permission", e.Permission.Title))
		p.body(indent, termtext.Plain, e.Permission.Description)
		p.quote(indent, e.Permission.Command)
		p.permission(e.Permission)
	case e.Question != nil:
		p.question(e)
	case e.Subagent != nil:
		p.subagent(e)
	case e.Notice != nil:
		p.head(e, termtext.Conversation, join("notice", e.Notice.Severity, e.Notice.Title))
		p.body(indent, termtext.Plain, e.Notice.Description)
	case e.Change != nil:
		p.head(e, termtext.LifeCycle, oneLine(e.Change.String()))
	case e.Other != nil:
		p.head(e, termtext.Dim, join("update", e.Other.Update))
		p.quote(indent, string(e.Other.Raw))
	}
}

// below writes the caller's lines about an entity.
func (p *printer) below(e *Entity) {
	if p.Below == nil {
		return
	}
	for _, line := range p.Below(e) {
		p.line(indent, line.Style, p.fit(indent, line.Text))
	}
}

// join puts words from the wire on one line.
func join(words ...string) string { return oneLine(strings.Join(words, " ")) }

func oneLine(text string) string { return termtext.Brief(text, 0) }

func (p *printer) message(e *Entity) {
	m := e.Message
	switch m.Role {
	case User:
		who := "user"
		if e.Above != nil {
			who = "task"
		}
		p.head(e, termtext.Conversation, who)
	case Thought:
		p.head(e, termtext.Dim, "thought")
	case Relayed:
		p.head(e, termtext.Conversation, p.c.Correspondents(e))
	default:
		p.head(e, termtext.Conversation, string(m.Role))
	}
	s := termtext.Plain
	if m.Role == Thought {
		s = termtext.Dim
	}
	// Adjacent text blocks are one text.
	var texts []string
	flush := func() {
		p.body(indent, s, strings.Join(texts, ""))
		texts = nil
	}
	for _, block := range m.Blocks.All() {
		if wire.JSON(block).Get("type").Text() == "text" {
			texts = append(texts, blockText(block))
			continue
		}
		flush()
		p.block(indent, s, block)
	}
	flush()
}

// block writes one content block.
func (p *printer) block(indent string, s termtext.Style, raw json.RawMessage) {
	block := wire.JSON(raw).Value()
	switch kind := block.Get("type").Text(); kind {
	case "text":
		p.body(indent, s, block.Get("text").Text())
	case "image", "audio":
		size := len(block.Get("data").Text()) / 4 * 3 // base64
		p.body(indent, termtext.Dim, fmt.Sprintf("[%s, %s]", block.Get("mimeType").Text(), termtext.ByteSize(int64(size))))
	case "resource_link":
		p.body(indent, termtext.Dim, "["+join(block.Get("name").Text(), block.Get("uri").Text())+"]")
	case "resource":
		r := block.Get("resource")
		p.body(indent, termtext.Dim, "["+join(r.Get("uri").Text(), r.Get("mimeType").Text())+"]")
		p.quote(indent, r.Get("text").Text())
	case wire.ValueAt(Cut, "type").Text():
		p.line(indent, termtext.Dim, "[cut off: the frame is too large]")
	default:
		p.body(indent, termtext.Dim, "["+join(kind, "block")+"]")
	}
}

func (p *printer) plan(e *Entity) {
	plan := e.Plan
	if plan.Removed {
		p.head(e, termtext.Conversation, "plan, removed")
		return
	}
	p.head(e, termtext.Conversation, "plan")
	raw := wire.JSON(plan.Raw).Value()
	p.body(indent, termtext.Plain, raw.Get("content").Text())
	p.body(indent, termtext.Plain, raw.Get("uri").Text())
	for _, entry := range plan.Entries() {
		box, s := "[ ] ", termtext.Plain
		switch entry.Status {
		case "in_progress":
			box, s = "[>] ", termtext.Bold
		case "completed":
			box, s = "[x] ", termtext.Dim
		case "cancelled":
			box, s = "[-] ", termtext.Dim
		}
		text := termtext.Wrap(oneLine(entry.Content), p.inner(indent+box))
		p.line(indent+box, s, text[0])
		for _, line := range text[1:] {
			p.line(indent+"    ", s, line)
		}
	}
}
