package trace

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

const indent = "  "

func (p *printer) entity(e *Entity) {
	switch {
	case e.Message != nil:
		p.message(e)
	case e.ToolCall != nil:
		p.toolCall(e)
	case e.Plan != nil:
		p.plan(e)
	case e.Terminal != nil:
		p.head(e, cyan, "terminal")
		p.terminal(indent, e.Terminal)
	case e.Compaction != nil:
		p.head(e, yellow, join("compaction", e.Compaction.Status))
		for _, block := range e.Compaction.Summary {
			p.block(indent, dim, block)
		}
		p.body(indent, red, string(e.Compaction.Error))
	case e.Permission != nil:
		p.head(e, yellow, join("permission", e.Permission.Title))
		p.body(indent, plain, e.Permission.Description)
		p.quote(indent, e.Permission.Command)
		p.permission(e.Permission)
	case e.Notice != nil:
		p.head(e, yellow, join("notice", e.Notice.Severity, e.Notice.Title))
		p.body(indent, plain, e.Notice.Description)
	case e.Other != nil:
		p.head(e, dim, join("update", e.Other.Update))
		p.quote(indent, string(e.Other.Raw))
	}
}

// join puts words from the wire on one line.
func join(words ...string) string { return oneLine(strings.Join(words, " ")) }

func (p *printer) message(e *Entity) {
	m := e.Message
	switch m.Role {
	case User:
		p.head(e, bold, "user")
	case Thought:
		p.head(e, dim, "thought")
	default:
		p.head(e, bold, string(m.Role))
	}
	s := plain
	if m.Role == Thought {
		s = dim
	}
	// Neighbouring text blocks are one text.
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			p.body(indent, s, text.String())
			text.Reset()
		}
	}
	for _, block := range m.Blocks {
		if gjson.GetBytes(block, "type").Str == "text" {
			text.WriteString(blockText(block))
			continue
		}
		flush()
		p.block(indent, s, block)
	}
	flush()
}

// block writes one content block.
func (p *printer) block(indent string, s style, raw json.RawMessage) {
	block := gjson.ParseBytes(raw)
	switch kind := block.Get("type").Str; kind {
	case "text":
		p.body(indent, s, block.Get("text").Str)
	case "image", "audio":
		size := len(block.Get("data").Str) / 4 * 3 // base64
		p.body(indent, cyan, fmt.Sprintf("[%s, %s]", block.Get("mimeType").Str, byteSize(size)))
	case "resource_link":
		p.body(indent, cyan, "["+join(block.Get("name").Str, block.Get("uri").Str)+"]")
	case "resource":
		r := block.Get("resource")
		p.body(indent, cyan, "["+join(r.Get("uri").Str, r.Get("mimeType").Str)+"]")
		p.quote(indent, r.Get("text").Str)
	case gjson.Get(Cut, "type").Str:
		p.line(indent, cyan, "[cut off: the frame is too large]")
	default:
		p.body(indent, cyan, "["+join(kind, "block")+"]")
	}
}

func byteSize(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func (p *printer) plan(e *Entity) {
	plan := e.Plan
	if plan.Removed {
		p.head(e, cyan, "plan, removed")
		return
	}
	p.head(e, cyan, "plan")
	raw := gjson.ParseBytes(plan.Raw)
	p.body(indent, plain, raw.Get("content").Str)
	p.body(indent, cyan, raw.Get("uri").Str)
	for _, entry := range plan.Entries() {
		box, s := "[ ] ", plain
		switch entry.Status {
		case "in_progress":
			box, s = "[>] ", bold
		case "completed":
			box, s = "[x] ", dim
		case "cancelled":
			box, s = "[-] ", dim
		}
		text := wrap(oneLine(entry.Content), p.inner(indent+box))
		p.line(indent+box, s, text[0])
		for _, line := range text[1:] {
			p.line(indent+"    ", s, line)
		}
	}
}
