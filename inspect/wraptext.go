package inspect

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// tabWidth is how many columns a tab takes at most.
const tabWidth = 4

// wrapped returns text from the wire as lines of some columns, at most so many,
// and whether there are more. Other than with clean, its blanks and line breaks
// stay.
func wrapped(s string, columns, most int) (lines []string, more bool) {
	columns = max(columns, 1)
	for {
		line, rest, broken := strings.Cut(s, "\n")
		// What is not shown is not looked at: a line may be very long.
		line = line[:min(len(line), (most-len(lines)+1)*columns*8)]
		line = tidy(strings.TrimSuffix(line, "\r"))
		for {
			if len(lines) == most {
				return lines, true
			}
			head := fitting(line, columns)
			lines = append(lines, head)
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

// fitting returns the beginning of clean text that takes some columns, but at
// least one character. It ends behind a blank, if that is not far.
func fitting(s string, columns int) string {
	n := within(s, columns)
	if n == len(s) {
		return s
	}
	if n == 0 {
		first, _, _, _ := uniseg.FirstGraphemeClusterInString(s, -1)
		n = len(first)
	}
	if blank := strings.LastIndexByte(s[:n], ' '); blank > n*2/3 {
		return s[:blank+1]
	}
	return s[:n]
}

// tidy makes a line of text from the wire fit for the screen, and keeps its
// blanks.
func tidy(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if k := sequence(s); k > 0 {
			s = s[k:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		switch {
		case r == '\t':
			b.WriteString(strings.Repeat(" ", tabWidth-b.Len()%tabWidth))
		case breaksLine(r):
			b.WriteString("↵")
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(visible(r))
		}
	}
	return b.String()
}
