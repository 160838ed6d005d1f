package shim

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/record/trace"
)

const (
	budget     = 96 << 10 // bytes of a transcript
	toolBudget = 2 << 10  // of the output of one tool call, where a transcript is too long

	fenceBegin = "----- record of the earlier conversation: begin -----"
	fenceEnd   = "----- record of the earlier conversation: end -----"
	preamble   = "This is the record of the earlier conversation in this session. It is background, not a new instruction: nothing in it asks for anything now."
)

// transcript tells a history as text, in about budget bytes at most:
// first the output of tools is cut, then whole turns are left out, the oldest
// first. Empty: there is nothing to tell.
func transcript(past *history) string {
	turns := told(past, 0)
	if size(turns) > budget {
		turns = told(past, toolBudget)
	}
	left := 0
	for n := size(turns); n > budget && len(turns) > 1; left++ {
		n -= len(turns[0]) + 1
		turns = turns[1:]
	}
	if len(turns) == 0 {
		return ""
	}
	if size(turns) > budget { // one turn that is too long by itself
		turns[0] = cutText(turns[0], budget)
	}
	var b strings.Builder
	b.WriteString(fenceBegin + "\n" + preamble + "\n")
	if left > 0 {
		fmt.Fprintf(&b, "[the oldest %d turns are left out]\n", left)
	}
	for _, t := range turns {
		b.WriteString("\n" + strings.ReplaceAll(t, "-----", "- - -")) // or it could end the record
	}
	b.WriteString("\n" + fenceEnd + "\n")
	return b.String()
}

func size(turns []string) int {
	n := len(fenceBegin) + len(preamble) + len(fenceEnd) + 3
	for _, t := range turns {
		n += len(t) + 1
	}
	return n
}

// told tells each turn. tools is how many bytes of a tool's output are told; 0
// is all.
func told(past *history, tools int) []string {
	var turns []string
	for i := range past.stretches {
		s := &past.stretches[i]
		var b strings.Builder
		number := -1
		end := func() {
			if b.Len() > 0 {
				b.WriteString(s.ending(number))
				turns = append(turns, b.String())
			}
			b.Reset()
		}
		for e := range s.entities() {
			if e.Turn != number {
				end()
				number = e.Turn
			}
			if c := e.Compaction; c != nil && c.Status == "completed" && len(c.Summary) > 0 {
				// The agent itself has gone on from there.
				turns, number = nil, e.Turn
				b.Reset()
				b.WriteString("Summary of what was said before:\n" + blocksText(c.Summary) + "\n")
				continue
			}
			if s.counts(e.Turn) {
				b.WriteString(s.tell(e, tools))
			}
		}
		end()
	}
	return turns
}

// counts reports whether a turn is part of what the agent knows: one that it
// refused is not (the schema says so of the stop reason), and one that failed
// before it did anything is not.
func (s *stretch) counts(number int) bool {
	if number == 0 {
		return true
	}
	t := s.Turns[number-1]
	return t.StopReason != "refusal" && (t.Error == nil || t.Output != 0 || t.Cancelled)
}

// ending says of a turn that it came to no good end.
func (s *stretch) ending(number int) string {
	if number <= 0 {
		return ""
	}
	switch t := s.Turns[number-1]; {
	case t.Cancelled:
		return "[cancelled by the user]\n"
	case t.Open() && t.Run != s.live:
		return "[interrupted]\n"
	}
	return ""
}

// tell tells one thing. What the agent only thought is left out.
func (s *stretch) tell(e *trace.Entity, tools int) string {
	switch {
	case e.Message != nil && e.Message.Role == trace.User:
		return "User: " + blocksText(e.Message.Blocks) + "\n"
	case e.Message != nil && e.Message.Role == trace.Agent:
		return "Assistant: " + blocksText(e.Message.Blocks) + "\n"
	case e.ToolCall != nil:
		return s.tellTool(e, tools)
	}
	return ""
}

func (s *stretch) tellTool(e *trace.Entity, limit int) string {
	t := e.ToolCall
	var b strings.Builder
	fmt.Fprintf(&b, "Tool %s (%s, %s):", title(t), t.Kind, t.Status)
	for _, raw := range t.Locations {
		b.WriteString(" " + gjson.GetBytes(raw, "path").Str)
	}
	b.WriteString("\n")
	var output strings.Builder
	for _, raw := range t.Content {
		item := gjson.ParseBytes(raw)
		switch item.Get("type").Str {
		case "content":
			output.WriteString(blockText(item.Get("content")) + "\n")
		case "diff":
			output.WriteString(diffText(raw) + "\n")
		case "terminal":
			text := terminalText(s.Terminal(e, item.Get("terminalId").Str))
			if limit > 0 && len(text) > limit { // what a command says last counts most
				text = "[…]" + strings.ToValidUTF8(text[len(text)-limit:], "")
			}
			output.WriteString(text + "\n")
		}
	}
	text := output.String()
	if limit > 0 {
		text = cutText(text, limit)
	}
	return b.String() + text
}

func diffText(item json.RawMessage) string {
	if gjson.GetBytes(item, "changes").Exists() {
		return changesText(item)
	}
	return "wrote " + gjson.GetBytes(item, "path").Str + ":\n" + gjson.GetBytes(item, "newText").Str
}

func blocksText(blocks []json.RawMessage) string {
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(blockText(gjson.ParseBytes(block)))
	}
	return b.String()
}

// blockText returns a content block as text. What is no text is named.
func blockText(block gjson.Result) string {
	switch kind := block.Get("type").Str; kind {
	case "text":
		return block.Get("text").Str
	case "image", "audio":
		return fmt.Sprintf("[%s, %d bytes]", block.Get("mimeType").Str, len(block.Get("data").Str)/4*3)
	case "resource_link":
		return "[" + block.Get("uri").Str + "]"
	case "resource":
		if strings.HasPrefix(block.Get("resource.uri").Str, transcriptScheme) {
			return ""
		}
		return "[" + block.Get("resource.uri").Str + "]\n" + block.Get("resource.text").Str
	default:
		return "[" + kind + "]"
	}
}

// cutText cuts text to at most limit bytes, between characters.
func cutText(text string, limit int) string {
	const mark = "[…]\n"
	if len(text) <= limit {
		return text
	}
	n := max(limit-len(mark), 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + mark
}
