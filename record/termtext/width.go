package termtext

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width returns the width in columns of one line of clean text.
func Width(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Pad pads clean text with blanks to some columns.
func Pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(columns-Width(s), 0))
}

// Cut shortens one line of clean text to some columns, one or more. An ellipsis replaces
// what it cuts.
func Cut(s string, columns int) string {
	if within(s, columns) == len(s) {
		return s
	}
	return strings.TrimRight(s[:within(s, columns-1)], " ") + "…"
}

// CutWords shortens one line of clean text to some columns, at the end of a word if one ends
// in the second half. An ellipsis replaces what it cuts.
func CutWords(s string, columns int) string {
	cut := Cut(s, columns)
	if cut == s {
		return s
	}
	if end := strings.LastIndexByte(cut, ' '); end > len(cut)/2 && s[len(cut)-len("…")] != ' ' {
		return strings.TrimRight(cut[:end], " ") + " …"
	}
	return cut
}

// Head returns the beginning of one line of clean text that fits into some columns, but
// never less than one character.
func Head(s string, columns int) string {
	n := within(s, columns)
	if n == 0 {
		first, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
		n = len(first)
	}
	return s[:n]
}

// within returns how many bytes of clean text fit into some columns. It reads no further
// than needed, since the text may be very long.
func within(s string, columns int) int {
	columns = max(columns, 0)
	if isASCII(s[:min(len(s), columns+1)]) { // most text is; the next byte combines with nothing
		return min(len(s), columns)
	}
	n, used, state := 0, 0, -1
	for rest := s; len(rest) > 0; {
		var cluster string
		var w int
		cluster, rest, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > columns {
			break
		}
		n += len(cluster)
		used += w
	}
	return n
}
