package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Present reports whether there is a value that is not null.
func Present(value []byte) bool { return len(value) > 0 && string(value) != "null" }

// Text returns the text of a JSON string, or nothing for any other value.
func Text(value []byte) string {
	text, _ := Unquote(value)
	return strings.ToValidUTF8(string(text), "\ufffd")
}

// Clip returns the beginning of a text of more than most bytes, in whole characters.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for n := 1; n < utf8.UTFMax && most > 0 && !utf8.RuneStart(text[most]); n++ {
		most--
	}
	return text[:most] + "…"
}

// Unquote returns the text of a JSON string. ok is false if the value is not a string, or
// was cut off within an escape sequence. Text without escapes is a subslice of quoted.
func Unquote(quoted []byte) (text []byte, ok bool) {
	if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return nil, false
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], true
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return nil, false
	}
	return []byte(s), true
}

// unquote is Unquote for a string that may be cut off: it returns as much as there is.
func unquote(quoted []byte) []byte {
	if text, ok := Unquote(quoted); ok {
		return text
	}
	return bytes.TrimSuffix(quoted[1:], []byte(`"`))
}

// Integer returns the value of a JSON number that is an integer, in any spelling;
// otherwise ok is false.
func Integer(value []byte) (n int64, ok bool) {
	if len(value) > 32 {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n, true // a float64 is not exact beyond 53 bits
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// Encode returns a value as JSON, with <, > and & as they are. It panics if JSON cannot
// represent the value; it can represent any text.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("wire: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
