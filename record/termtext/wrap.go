package termtext

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Wrap splits clean text into lines no wider than some columns, between words if
// possible, but not at hyphens. With 0 columns it keeps lines whole.
func Wrap(text string, columns int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if columns <= 0 || within(line, columns) == len(line) {
			lines = append(lines, strings.TrimRight(line, " "))
			continue
		}
		lines = append(lines, wrapLine(line, columns)...)
	}
	return lines
}

func wrapLine(text string, columns int) []string {
	var lines []string
	var line strings.Builder
	used := 0
	end := func() {
		lines = append(lines, strings.TrimRight(line.String(), " "))
		line.Reset()
		used = 0
	}
	state := -1
	for len(text) > 0 {
		var word string
		word, text, _, state = uniseg.FirstLineSegmentInString(text, state)
		for text != "" && strings.HasSuffix(word, "-") { // flags and names have hyphens
			var more string
			more, text, _, state = uniseg.FirstLineSegmentInString(text, state)
			word += more
		}
		if used > 0 && used+Width(strings.TrimRight(word, " ")) > columns {
			end()
		}
		for { // one word may be much wider than a line
			head := Head(word, columns)
			if len(head) >= len(strings.TrimRight(word, " ")) {
				break
			}
			line.WriteString(head)
			end()
			word = word[len(head):]
		}
		line.WriteString(word)
		used += Width(word)
	}
	if line.Len() > 0 { // perhaps only of characters without width
		end()
	}
	return lines
}

// FirstLines returns the first n lines of a text that are not blank, clean and wrapped to a
// width, if that is not 0. The last one ends in an ellipsis if there are more.
func FirstLines(text string, n, width int) (lines []string) {
	for one := range strings.Lines(text) {
		if one = strings.TrimSuffix(Brief(one, 0), " ↵"); one == "" || one == "↵" {
			continue
		}
		for _, row := range Wrap(one, width) {
			if len(lines) < n {
				lines = append(lines, row)
				continue
			}
			if last := &lines[n-1]; width > 0 {
				*last = CutWords(*last+" …", width)
			} else {
				*last += " …"
			}
			return lines
		}
	}
	return lines
}
