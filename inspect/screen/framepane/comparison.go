package framepane

import (
	"strings"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/record/linediff"
	"github.com/acptap/acptap/record/termtext"
)

// Compare shows what differs between two frames.
func (p *Pane) Compare(title string, before, after []byte) {
	p.Form, p.Title = asDiff, title
	p.lines, p.allLines = nil, allLines{}
	for _, line := range linediff.Lines(indented(before), indented(after)) {
		p.lines = append(p.lines, diffLine(-1, line))
	}
	p.Cursor, p.top = 0, 0
	for i, line := range p.lines {
		if line.part != inside {
			p.Cursor = i
			break
		}
	}
}

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

func indented(raw []byte) []string {
	var b strings.Builder
	in := &frametext.Indenter{W: &b}
	in.Write(raw) // a Builder takes everything
	in.Close()
	return strings.Split(b.String(), "\n")
}
