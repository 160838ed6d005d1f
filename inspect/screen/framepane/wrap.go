package framepane

import (
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// A wrappedLine is a line of a text, or a part of a line that is too long.
type wrappedLine struct {
	text   string
	within bool // not the first part of its line
}

// wrapped splits text from the wire into at most the given number of lines of some columns,
// and reports whether there are more. It keeps blanks and line breaks.
func wrapped(s string, columns, most int) (lines []wrappedLine, more bool) {
	columns = max(columns, 1)
	for {
		line, rest, broken := strings.Cut(s, "\n")
		// Skip what will not be shown: a line may be very long.
		line = line[:min(len(line), (most-len(lines)+1)*columns*8)]
		line = termtext.Line(strings.TrimSuffix(line, "\r"))
		for within := false; ; within = true {
			if len(lines) == most {
				return lines, true
			}
			head := fitting(line, columns)
			lines = append(lines, wrappedLine{head, within})
			if line = line[len(head):]; line == "" {
				break
			}
		}
		if !broken || rest == "" {
			return lines, false
		}
		s = rest
	}
}

// fitting returns the beginning of clean text that fits into some columns, at least one
// character. It ends after a blank if one is near.
func fitting(s string, columns int) string {
	head := termtext.Head(s, columns)
	if len(head) == len(s) {
		return s
	}
	if blank := strings.LastIndexByte(head, ' '); blank > len(head)*2/3 {
		return s[:blank+1]
	}
	return head
}
