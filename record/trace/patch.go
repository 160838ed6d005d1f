package trace

import (
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// The set functions apply one field of an update: a value replaces, an absent
// field changes nothing, and null clears from version 2 on. A value of the
// wrong type changes nothing.

func (f *frame) setString(dst *string, v wire.Value) {
	switch {
	case v.IsString():
		*dst = strings.Clone(f.cut(v.Text()))
	case f.cleared(v):
		*dst = ""
	}
}

func setNullable(dst *string, v wire.Value) {
	switch {
	case v.IsString():
		*dst = strings.Clone(v.Text()) // it may be part of the frame's text
	case isNull(v):
		*dst = ""
	}
}

func (f *frame) setRaw(dst *json.RawMessage, v wire.Value) {
	switch {
	case !v.IsNull():
		*dst = f.keep(v)
	case f.cleared(v):
		*dst = nil
	}
}

// append appends a value to a list.
func (f *frame) append(list []json.RawMessage, v wire.Value) []json.RawMessage {
	if f.trace.Brief {
		return list
	}
	return append(list, f.keep(v))
}

// setList reports whether v sets a list.
func (f *frame) setList(dst *[]json.RawMessage, v wire.Value) bool {
	switch {
	case v.IsArray():
		*dst = f.list(v)
	case f.cleared(v):
		*dst = nil
	default:
		return false
	}
	return true
}

func (f *frame) setBlocks(dst *Blocks, v wire.Value) {
	var list []json.RawMessage
	if f.setList(&list, v) {
		dst.set(f, list)
	}
}

func (f *frame) cleared(v wire.Value) bool { return f.nullClears() && isNull(v) }

// isNull distinguishes null from an absent field, which has the same Type.
func isNull(v wire.Value) bool { return v.IsNull() && v.Exists() }

// A block of plain text is its text between these.
const blockHead, blockTail = `{"type":"text","text":"`, `"}`

// plainText returns the text of a block that has a type and a text and nothing
// else, as JSON without the quotes.
func plainText(block wire.Value) (string, bool) {
	if text, ok := strings.CutPrefix(block.Raw(), blockHead); ok { // as most agents write it
		if text, ok = strings.CutSuffix(text, blockTail); ok && strings.IndexByte(text, '"') < 0 {
			return text, true
		}
	}
	if !block.IsObject() {
		return "", false
	}
	var text wire.Value
	typed, members := false, 0
	block.ForEach(func(key, v wire.Value) bool {
		members++
		switch key.Text() {
		case "type":
			typed = v.Text() == "text"
		case "text":
			text = v
		}
		return true
	})
	n := len(text.Raw())
	if !typed || members != 2 || !text.IsString() || n < 2 || text.Raw()[n-1] != '"' {
		return "", false
	}
	return text.Raw()[1 : n-1], true
}
