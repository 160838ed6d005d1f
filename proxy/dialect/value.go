package dialect

import (
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// quoted reports whether value is a whole JSON string.
func quoted(value []byte) bool {
	return len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"'
}

// firstLine returns the first line of a JSON string that is not blank, at most max runes of
// it. The string may be cut off.
func firstLine(value []byte, max int) string {
	// Twelve bytes are the most that a rune needs (two escaped surrogates);
	// eight times that leaves room for blank lines.
	head := value
	if limit := max * 12 * 8; len(head) > limit {
		head = head[:limit]
	}
	var s string
	if s = wire.Text(head); s == "" && len(head) > 0 && head[0] == '"' {
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
