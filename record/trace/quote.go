package trace

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// quoteLength limits the bytes kept of what was asked and what was answered.
const quoteLength = 256

// A quote is the beginning of the last message that the agent sent in a turn. Unlike the
// message itself, a brief Trace keeps it.
type quote struct {
	text []byte
	id   string // of the message; empty: it has none
	over bool   // something else came after it: more text is another message
}

// Answer returns the beginning of the last message that the agent sent in the turn.
func (t *Turn) Answer() string { return strings.ToValidUTF8(string(t.answer.text), "") }

// add adds what an update says.
func (q *quote) add(f *frame, u wire.Value) {
	if f.from != "" { // a subagent does not answer the user
		return
	}
	said, _ := dialect.LookupUpdate(f.Update)
	if said.Entity != dialect.AgentMessage {
		q.over = q.over || isOutput(f.Update)
		return
	}
	id := f.clip(u.Get("messageId").Text())
	if q.over || id != q.id || said.Form != dialect.Chunk && u.Get("content").Exists() {
		*q = quote{text: q.text[:0], id: strings.Clone(id)}
	}
	for text := range texts(u.Get("content")) {
		if len(q.text)+len(text) > max(cap(q.text), quoteLength/4) { // append would take up to twice the room
			q.text = append(make([]byte, 0, quoteLength), q.text...)
		}
		q.text = append(q.text, text[:min(len(text), quoteLength-len(q.text))]...)
	}
}

// asked returns the beginning of the text of a prompt.
func (f *frame) asked() string {
	var b []byte
	for text := range texts(f.params().Get("prompt")) {
		if len(b) > 0 && len(b) < quoteLength {
			b = append(b, '\n')
		}
		b = append(b, text[:min(len(text), quoteLength-len(b))]...)
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(b)), "")
}

// texts yields the text of a content block, or of several.
func texts(content wire.Value) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if !content.IsArray() {
			if text := content.Get("text").Text(); text != "" {
				yield(text)
			}
			return
		}
		for block := range elements(content) {
			if text := block.Get("text").Text(); text != "" && !yield(text) {
				return
			}
		}
	}
}
