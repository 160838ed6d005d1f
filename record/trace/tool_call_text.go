package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

func (p *printer) toolCall(e *Entity) {
	t := e.ToolCall
	s := termtext.Tools
	if t.Failed() {
		s = termtext.Failure
	}
	title := cmp.Or(t.Title, t.Name, t.ID)
	what := oneLine(title)
	if t.Kind != "" {
		what = join(t.Kind, "·", title)
	}
	if t.Status != "" {
		what += " [" + oneLine(t.State())
		if t.Finished() && e.First != e.Last {
			what += e.took()
		}
		what += "]"
	}
	p.head(e, s, what)
	for _, raw := range t.Locations {
		location := wire.JSON(raw).Value()
		where := location.Get("path").Text()
		if line := location.Get("line"); line.IsNumber() {
			where += ":" + line.Raw()
		}
		p.line(indent, termtext.Plain, p.fit(indent, oneLine(where)))
	}
	for _, permission := range t.Permissions {
		p.permission(permission)
	}
	for _, item := range t.Content {
		p.toolContent(e, wire.JSON(item).Value())
	}
	if len(t.Content) == 0 && t.RawOutput != nil {
		p.quote(indent, string(t.RawOutput))
	}
}

func (p *printer) permission(q *Permission) {
	var names []string
	for _, o := range q.Options {
		names = append(names, o.Name)
	}
	choice := q.Choice()
	if q.Response == 0 {
		choice = "no answer"
	}
	p.body(indent, termtext.Permission, join("asked:", strings.Join(names, " / "), "→", choice))
}

// toolContent writes one item of a tool call's content.
func (p *printer) toolContent(e *Entity, item wire.Value) {
	switch item.Get("type").Text() {
	case "content":
		content := item.Get("content")
		if content.Get("type").Text() == "text" {
			p.quote(indent, content.Get("text").Text())
			return
		}
		p.block(indent, termtext.Dim, json.RawMessage(content.Raw()))
	case "diff":
		p.diff(item)
	case "terminal":
		if t := p.c.Terminal(e, item.Get("terminalId").Text()); t != nil {
			p.terminal(indent, t)
		}
	default: // some agents omit the wrapping
		p.block(indent, termtext.Dim, json.RawMessage(item.Raw()))
	}
}

// diff writes a change of a file as lines of a unified diff.
func (p *printer) diff(item wire.Value) {
	if changes := item.Get("changes"); changes.Exists() { // version 2
		for change := range elements(changes) {
			p.line(indent, termtext.Tools, p.fit(indent, join(
				change.Get("operation").Text(), change.Get("oldPath").Text(), change.Get("path").Text())))
		}
		if patch := termtext.Text(item.Get("patch.text").Text()); patch != "" {
			p.excerpt(indent, splitLines(patch), diffStyle)
		}
		return
	}
	p.line(indent, termtext.Tools, p.fit(indent, join("diff", item.Get("path").Text())))
	lines := DiffLines(termtext.Text(item.Get("oldText").Text()), termtext.Text(item.Get("newText").Text()))
	p.excerpt(indent, lines, diffStyle)
}

func diffStyle(line string) termtext.Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return termtext.Green
	case strings.HasPrefix(line, "-"):
		return termtext.Red
	}
	return termtext.Dim
}

// terminal writes a command, its output and how it ended.
func (p *printer) terminal(indent string, t *Terminal) {
	if t.Command != "" {
		p.body(indent, termtext.Services, join("$", t.Command, strings.Join(t.Args, " ")))
	}
	if t.Truncated {
		p.line(indent, termtext.Dim, "…")
	}
	p.tail(indent, string(t.Output))
	switch x := t.Exit; {
	case x == nil:
	case x.Signal != "":
		p.line(indent, termtext.Failure, "signal "+oneLine(x.Signal))
	case x.Code != nil && *x.Code != 0:
		p.line(indent, termtext.Failure, fmt.Sprintf("exit %d", *x.Code))
	default:
		p.line(indent, termtext.Dim, "exit 0")
	}
}
