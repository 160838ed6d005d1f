package framepane

import (
	"strings"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/linediff"
	"github.com/acptap/acptap/record/termtext"
)

// Compare shows the differences between two frames.
func (p *Pane) Compare(title string, before, after []byte) {
	p.Form, p.Title = asDiff, title
	lines, words := Comparison(before, after), p.Words()
	p.Page = page.Page{State: p.state, Lines: func(int) []page.Line { return lines }}
	p.Look(words)
	p.Find(FirstDifference)
}

// FirstDifference is the key of the first line that differs in a comparison.
const FirstDifference = "the first difference"

// Comparison returns the lines of two frames, and marks those that differ.
func Comparison(before, after []byte) []page.Line {
	var lines []page.Line
	key := FirstDifference
	for _, line := range linediff.Lines(strings.Split(frametext.Indented(before), "\n"), strings.Split(frametext.Indented(after), "\n")) {
		l := diffLine(-1, line)
		lines = append(lines, page.Line{Spans: diffStyles[l.part].Line(l.text)})
		if l.part != inside {
			lines[len(lines)-1].Key, key = key, ""
		}
	}
	return lines
}

var diffStyles = map[linePart]termtext.Style{inside: termtext.Plain, added: termtext.Green, removed: termtext.Red}

func diffLine(n int32, line string) textLine {
	part := inside
	switch line[0] {
	case '+':
		part = added
	case '-':
		part = removed
	}
	return textLine{node: n, text: termtext.Line(line), part: part}
}
