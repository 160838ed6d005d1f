package frametext

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// block returns text for a content block of ACP or MCP.
func block(v wire.Value) string {
	switch kind := v.Get("type").Text(); kind {
	case "text":
		return Value(v.Get("text"))
	case "image", "audio":
		// Base64 has four characters for three bytes.
		return "[" + termtext.Spaced(kind, Value(v.Get("mimeType")), termtext.ByteSize(int64(len(v.Get("data").Text()))/4*3)) + "]"
	case "resource_link":
		return "[" + termtext.Spaced(Value(v.Get("name")), Value(v.Get("uri"))) + "]"
	case "resource":
		return termtext.Dotted("["+first(v, "resource.uri")+"]", Value(v.Get("resource.text")))
	case "tool_use":
		return termtext.Spaced(Value(v.Get("name")), Value(v.Get("input")))
	}
	return Value(v)
}

// blocks returns text for content blocks: an array, or a single one as in MCP's sampling.
func blocks(v wire.Value) string {
	if !v.IsArray() {
		return block(v)
	}
	return termtext.Spaced(each(v, block)...)
}

// message returns text for a whole message of version 2, whose content may be unchanged
// (absent) or cleared (null).
func message(v wire.Value) string {
	content := v.Get("content")
	switch {
	case !content.Exists():
		return termtext.Labelled("unchanged", Value(v.Get("messageId")))
	case empty(content):
		return termtext.Labelled("cleared", Value(v.Get("messageId")))
	}
	return blocks(content)
}

// toolUpdate returns the title and state of a tool call; for an update without a title, also
// its output. The title is what an earlier frame says if this one says nothing.
func toolUpdate(said dialect.Update, v wire.Value, tool filter.Tool) string {
	title, status := Value(v.Get("title")), strings.ReplaceAll(Value(v.Get("status")), "_", " ")
	if title != "" {
		return termtext.Dotted(title, status)
	}
	title = cmp.Or(termtext.Piece(tool.Title), Value(v.Get("toolCallId")))
	if said.Form == dialect.Chunk {
		return termtext.Dotted(title, toolContent(v.Get("content")))
	}
	text := termtext.Dotted(title, status, termtext.Spaced(each(v.Get("content"), toolContent)...))
	if v.Get("content").Exists() {
		return text
	}
	return termtext.Dotted(text, first(v, "rawOutput", "rawInput"))
}

func toolContent(v wire.Value) string {
	switch v.Get("type").Text() {
	case "content":
		return block(v.Get("content"))
	case "diff":
		if changes := v.Get("changes"); changes.IsArray() { // version 2
			return termtext.Labelled("diff", counted("file", at("path"))(changes))
		}
		return termtext.Labelled("diff", Value(v.Get("path")))
	case "terminal":
		return termtext.Labelled("terminal", Value(v.Get("terminalId")))
	}
	return Value(v)
}

// decoded returns the beginning of a base64-encoded text.
func decoded(v wire.Value) string {
	const enough = termtext.MaxPiece * 4 * 4 // bytes for that many characters, with blanks between them
	head := v.Text()[:min(len(v.Text()), enough)]
	b, err := base64.StdEncoding.DecodeString(head)
	if err != nil {
		return Value(v)
	}
	return termtext.Piece(string(b))
}

// plan returns how much of a plan is done and what comes next, or its text.
func plan(v wire.Value) string {
	entries := v.Get("entries")
	if !entries.IsArray() {
		return termtext.Dotted(first(v, "planId", "id"), first(v, "content", "uri"))
	}
	var all, done int64
	var now, next string
	entries.ForEach(func(_, e wire.Value) bool {
		all++
		switch status := e.Get("status").Text(); {
		case dialect.IsFinal(status):
			done++
		case status == "in_progress" && now == "":
			now = Value(e.Get("content"))
		case next == "":
			next = Value(e.Get("content"))
		}
		return true
	})
	if now == "" {
		now = next
	}
	return termtext.Dotted(termtext.Grouped(done)+" of "+termtext.Grouped(all)+" done", now)
}

func summaryOf(v wire.Value) string { return termtext.Spaced(each(v, block)...) }

func commandName(v wire.Value) string {
	name := Value(v.Get("name"))
	if name == "" || strings.HasPrefix(name, "/") {
		return name
	}
	return "/" + name
}

func usage(v wire.Value) string {
	used, size := v.Get("used"), v.Get("size")
	var context string
	if used.IsNumber() && size.IsNumber() {
		context = termtext.Grouped(used.Int()) + " of " + termtext.Grouped(size.Int()) + " tokens"
	}
	return termtext.Dotted(context, termtext.Spaced(Value(v.Get("cost.amount")), Value(v.Get("cost.currency"))))
}
