package framepane

import (
	"strings"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// wrapped splits text from the wire into lines of the given width, up to most of them,
// and reports whether there are more. It keeps blanks and line breaks.
func wrapped(s string, columns, most int) (lines []page.TextRow, more bool) {
	columns = max(columns, 1)
	for {
		line, rest, broken := strings.Cut(s, "\n")
		// Skip what will not be shown: a line may be very long.
		line = line[:min(len(line), (most-len(lines)+1)*columns*8)]
		line = termtext.Line(strings.TrimSuffix(line, "\r"))
		join := page.AtBlank
		if lines == nil {
			join = page.Apart
		}
		for ; ; join = page.Within {
			if len(lines) == most {
				return lines, true
			}
			head := fitting(line, columns)
			lines = append(lines, page.TextRow{Text: head, Join: join})
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

// fitting returns the prefix of clean text that fits into some columns, at least one
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
