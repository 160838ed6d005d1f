package filter

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// separator separates parts of a text that are searched together. It is not a byte of
// UTF-8, so no text contains it.
const separator = 0xff

// inUnescaped reports whether raw has the text once the escapes of its JSON strings are
// decoded. raw must not have the text as it is: then a match includes an escape, so it
// decodes only the parts around escapes.
func (n *textSearch) inUnescaped(raw []byte) bool {
	if n.reach == 0 {
		return false
	}
	var room [2048]byte
	text := room[:0]
	near := n.reach - 1 // bytes before or after an escape that may be part of the same match
	for first := true; ; first = false {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return !first && n.in(append(text, raw[:min(near, len(raw))]...))
		}
		switch plain := raw[:i]; {
		case i <= 2*near:
			text = append(text, plain...)
		default:
			if !first {
				text = append(text, plain[:near]...)
			}
			text = append(append(text, separator), plain[i-near:]...)
		}
		text, raw = unescape(text, raw[i:])
		if len(text) >= max(len(room)/2, 2*near) {
			if n.in(text) {
				return true
			}
			// A match may begin near the end and continue in the next part.
			text = text[:copy(text, text[len(text)-min(near, len(text)):])]
		}
	}
}

// unescaped returns raw with the escapes of JSON decoded. JSON has backslashes only in
// strings.
func unescaped(raw []byte) []byte {
	text := make([]byte, 0, len(raw))
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(text, raw...)
		}
		text, raw = unescape(append(text, raw[:i]...), raw[i:])
	}
}

// unescape appends the character of the escape at the beginning of raw, and returns the
// rest of raw. As in encoding/json, half a surrogate pair becomes U+FFFD. An invalid escape
// loses its backslash.
func unescape(text, raw []byte) (longer, rest []byte) {
	if len(raw) == 1 {
		return append(text, raw...), nil
	}
	if r, ok := codeUnit(raw); ok {
		raw = raw[6:]
		if utf16.IsSurrogate(r) {
			low, _ := codeUnit(raw)
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				raw = raw[6:]
			}
		}
		return utf8.AppendRune(text, r), raw
	}
	c := raw[1]
	if i := strings.IndexByte("nrtbf", c); i >= 0 {
		c = "\n\r\t\b\f"[i]
	}
	return append(text, c), raw[2:]
}

// codeUnit returns the code unit of UTF-16 that b begins with, such as \u00e9.
func codeUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
