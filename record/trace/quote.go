package trace

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Limits on the bytes kept of what was asked, of an answer that is still short, and of what was answered in an earlier turn of a session
// and in its last one.
const (
	askedLength  = 448
	quoteLength  = 384
	shortLength  = 768
	answerLength = 4 << 10
)

// A quote is the beginning of the last message that the agent sent in a turn. Unlike the
// message itself, a brief Trace keeps it.
type quote struct {
	text []byte
	id   string // of the message; empty: it has none
	over bool   // something else came after it: more text is another message
	cut  bool   // there was more
}

// Answer returns the beginning of the last message that the agent sent in the turn. An ellipsis
// replaces what it lacks.
func (t *Turn) Answer() string { return beginning(t.answer.text, t.answer.cut) }

// beginning returns the beginning of a text. If there was more, it ends with a word, unless the
// last one is very long, and an ellipsis.
func beginning(text []byte, cut bool) string {
	said := strings.ToValidUTF8(string(text), "")
	if !cut {
		return said
	}
	if end := strings.LastIndexAny(said, " \n"); end > len(said)/2 {
		said = said[:end]
	}
	return strings.TrimSpace(said) + " …"
}

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
		if n := len(q.text) + len(text); n > max(cap(q.text), quoteLength/4) && cap(q.text) < quoteLength { // append would take up to twice the room
			q.text = append(make([]byte, 0, quoteLength), q.text...)
		}
		room := min(len(text), answerLength-len(q.text))
		q.text, q.cut = append(q.text, text[:room]...), q.cut || room < len(text)
	}
}

// shorten notes that the turn is not the last one any more.
func (q *quote) shorten() {
	if len(q.text) > shortLength {
		q.text, q.cut = slices.Clone(q.text[:shortLength]), true
	}
}

// asked returns the beginning of the text of a prompt, with the names of what it links to.
func (f *frame) asked() string {
	var b []byte
	cut, inLine := false, false
	for block := range elements(f.params().Get("prompt")) {
		text, isLink := block.Get("text").Text(), block.Get("type").Text() == "resource_link"
		if isLink {
			text = block.Get("name").Text()
		}
		if text == "" {
			continue
		}
		if len(b) > 0 && len(b) < askedLength {
			switch first, _ := utf8.DecodeRuneInString(text); {
			case isLink && b[len(b)-1] == ' ', inLine && !unicode.IsLetter(first):
			case isLink, inLine:
				b = append(b, ' ')
			default:
				b = append(b, '\n')
			}
		}
		inLine = isLink
		room := min(len(text), askedLength-len(b))
		b, cut = append(b, text[:room]...), cut || room < len(text)
	}
	return strings.TrimSpace(beginning(b, cut))
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
