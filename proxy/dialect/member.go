package dialect

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// A reader walks over the members of one JSON object, or the elements of one
// array, without allocating and without recursion. It trusts that wire.Scan has
// found the text to be JSON, and stops where a text that was cut off ends; on
// anything else it stops somewhere, but always stops.
type reader struct {
	b []byte
	i int
}

// within returns a reader of an object's members or an array's elements.
func within(value []byte, open byte) reader {
	if len(value) == 0 || value[0] != open {
		return reader{}
	}
	return reader{b: value, i: 1}
}

// member returns the next member. A value that was cut off is as it is.
func (r *reader) member() (key, value []byte, ok bool) {
	r.skip(',')
	if r.i >= len(r.b) || r.b[r.i] != '"' {
		return nil, nil, false
	}
	start := r.i
	r.i = stringEnd(r.b, r.i)
	key = r.b[start:r.i]
	r.skip(':')
	value = r.value()
	if len(key) < 2 || len(value) == 0 {
		return nil, nil, false
	}
	if bytes.IndexByte(key, '\\') >= 0 {
		return []byte(text(key)), value, true
	}
	return key[1 : len(key)-1], value, true
}

// element returns the next element of an array.
func (r *reader) element() (value []byte, ok bool) {
	r.skip(',')
	if r.i >= len(r.b) || r.b[r.i] == ']' {
		return nil, false
	}
	value = r.value()
	return value, len(value) > 0
}

// skip goes over blanks and at most one separator.
func (r *reader) skip(separator byte) {
	for r.i < len(r.b) {
		switch c := r.b[r.i]; {
		case c == ' ', c == '\t', c == '\n', c == '\r':
		case c == separator:
			separator = ' '
		default:
			return
		}
		r.i++
	}
}

func (r *reader) value() []byte {
	start, depth := r.i, 0
	for r.i < len(r.b) {
		switch r.b[r.i] {
		case '"':
			r.i = stringEnd(r.b, r.i)
			if depth == 0 {
				return r.b[start:r.i]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // behind a number or a literal
				return r.b[start:r.i]
			}
			if depth--; depth == 0 {
				r.i++
				return r.b[start:r.i]
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return r.b[start:r.i]
			}
		}
		r.i++
	}
	return r.b[start:]
}

// stringEnd returns the index behind the string that begins at b[i].
func stringEnd(b []byte, i int) int {
	first := i + 1
	for i = first; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		slashes := 0
		for i-slashes > first && b[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// at returns the value at a path of keys, nil if there is none. Of members that
// occur twice the last one counts, as in wire.Scan.
func at(object []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		r := within(object, '{')
		for key, value, ok := r.member(); ok; key, value, ok = r.member() {
			if string(key) == name {
				found = value
			}
		}
		object = found
	}
	return object
}

// has reports whether a value is there and not null: so the specifications read
// markers of capabilities, and identities.
func has(value []byte) bool { return len(value) > 0 && string(value) != "null" }

// quoted reports whether value is a whole JSON string.
func quoted(value []byte) bool {
	return len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"'
}

// text returns the text of a JSON string, nothing for any other value.
func text(value []byte) string {
	if !quoted(value) {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return strings.ToValidUTF8(string(value[1:len(value)-1]), "\ufffd")
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// integer returns the value of a JSON number that is an integer, however it is
// spelled.
func integer(value []byte) (int64, bool) {
	if len(value) > 32 {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != float64(int64(f)) {
		return 0, false
	}
	return int64(f), true
}

// firstLine returns the first line of a JSON string that is not blank, at most
// max runes of it. Of a string that was cut off it takes what is there.
func firstLine(value []byte, max int) string {
	// Twelve bytes are the most that a rune needs (two escaped surrogates);
	// eight times that leaves room for blank lines.
	head := value
	if limit := max * 12 * 8; len(head) > limit {
		head = head[:limit]
	}
	var s string
	if s = text(head); s == "" && len(head) > 0 && head[0] == '"' {
		// The cut may have gone through an escape sequence.
		for n := len(head); n > 0 && n > len(head)-12; n-- {
			if json.Unmarshal(append(head[:n:n], '"'), &s) == nil {
				break
			}
		}
	}
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		n := 0
		for i := range line {
			if n++; n > max {
				return line[:i]
			}
		}
		return line
	}
	return ""
}
