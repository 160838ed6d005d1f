package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A streamedText is the text of a frame that may be one piece of a longer text.
type streamedText struct {
	raw    []byte // the frame's bytes
	at     int    // where the string begins in raw; -1: raw is the text
	base64 bool
	text   []byte

	kind  string // of text: a variant of session/update, or empty for stderr
	id    string // of the entity that the text belongs to
	whole bool   // the text is complete, and the next one replaces it
}

// streamed returns the text of a frame that continues in others: of an update that is a
// chunk, and of stderr, where a private key has many lines. ok is false if there is none.
func streamed(f *dialect.Frame) (t streamedText, ok bool) {
	switch {
	case int64(len(f.Raw)) != f.Size:
	case f.Kind == wire.Stderr && !json.Valid(f.Raw): // a log of JSON has its text in strings
		return streamedText{raw: f.Raw, at: -1, text: f.Raw}, true
	case f.Kind == wire.Notification && f.Update != "":
		return chunkText(f)
	}
	return t, false
}

func chunkText(f *dialect.Frame) (t streamedText, ok bool) {
	path := "params."
	if dialect.Wraps(f.Method) {
		for path += "params."; dialect.Wraps(wire.ValueAt(f.Raw, strings.TrimSuffix(path, "params.")+"method").Text()); {
			path += "params."
		}
	}
	in := wire.Find(f.Raw, path+"update")
	if len(in) != 1 {
		return t, false
	}
	update := f.Raw[in[0].Start:in[0].End]
	row, ok := dialect.LookupUpdate(wire.ValueAt(update, "sessionUpdate").Text())
	if !ok || row.Text == "" {
		return t, false
	}
	at := wire.Find(update, row.Text)
	if len(at) != 1 || update[at[0].Start] != '"' {
		return t, false
	}
	t = streamedText{
		raw: f.Raw, at: in[0].Start + at[0].Start, base64: row.Entity == dialect.Terminal,
		kind: row.Name, whole: row.Form != dialect.Chunk, text: unquote(update[at[0].Start:at[0].End]),
	}
	if row.ID != "" {
		t.id = wire.ValueAt(update, row.ID).Text()
	}
	if t.base64 {
		t.text = fromBase64(t.text)
	}
	return t, true
}

// replaced returns the bytes of the frame with placeholders in its text.
func (t *streamedText) replaced(at []span) []byte {
	if len(at) == 0 {
		return t.raw
	}
	now := replaced(t.text, at)
	if t.at < 0 {
		return now
	}
	if t.base64 {
		now = base64.StdEncoding.AppendEncode(nil, now)
	}
	r := wire.Reader{Text: t.raw, Pos: t.at}
	r.Quoted()
	var e edit
	e.replace(t.raw, t.at, r.Pos, string(termtext.AppendQuoted(nil, now)))
	return e.text(t.raw)
}

// fromBase64 decodes base64 as readers of a terminal's output do: with or without padding,
// up to the first character that is not base64.
func fromBase64(text []byte) []byte {
	b, _ := base64.RawStdEncoding.AppendDecode(nil, bytes.TrimRight(text, "="))
	return b
}
