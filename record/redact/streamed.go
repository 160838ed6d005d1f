package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

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
		return chunkText(f.Raw)
	}
	return t, false
}

func chunkText(raw []byte) (t streamedText, ok bool) {
	path := "params"
	for in := wire.ValueOf(raw); dialect.Wraps(in.Get("method").Text()); path += ".params" {
		in = in.Get("params")
	}
	update := wire.ValueAt(raw, path+".update")
	row, ok := dialect.LookupUpdate(update.Get("sessionUpdate").Text())
	if !ok || row.Text == "" {
		return t, false
	}
	text := update.Get(row.Text)
	at := wire.Find(raw, path+".update."+row.Text)
	if !text.IsString() || len(at) != 1 {
		return t, false
	}
	t = streamedText{
		raw: raw, at: at[0].Start, base64: row.Entity == dialect.Terminal,
		kind: row.Name, id: update.Get(row.ID).Text(), whole: row.Form != dialect.Chunk,
	}
	t.text = unquote([]byte(text.Raw()))
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
