package dialect

import (
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// at returns the value at a path of keys, nil if there is none. Of members that
// occur twice the last one counts, as in wire.Scan.
func at(object []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		r := wire.Inside(object, '{')
		for key, value, ok := r.Member(); ok; key, value, ok = r.Member() {
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
	b, _ := wire.Unquote(value)
	return strings.ToValidUTF8(string(b), "\ufffd")
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
