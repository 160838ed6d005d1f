package framepane

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// The laidOut lines are those that the frame has when only the envelope is folded.
type laidOut struct {
	lines   []textLine // empty for hex
	width   int        // width that the lines were made for; 0: not made yet
	whole   bool       // long strings are complete, which only a search needs
	changes int        // number of changes to what is folded
}

// A textLine is a line of a value. Its text is built only when drawn, because there may
// be half a million lines.
type textLine struct {
	node int32  // -1: none
	text string // for a string on several lines, a diff, or raw bytes
	part linePart
	join page.Join // to the previous line
}

type linePart uint8

const (
	beginning linePart = iota // name and value, or the beginning of the value
	inside                    // a line of a string
	added                     // a line of a diff
	removed
	ending // a closing bracket
	cutOff // more follows, which is shown only on request
	around // the envelope
)

// longString is the number of lines shown of a string until it is unfolded.
const longString = 24

// state returns everything that the lines depend on, except the width.
func (p *Pane) state() any { return [2]any{p.changes, p.Words().IsZero()} }

// pageLines returns the page's lines. Those folded away belong to the previous line.
func (p *Pane) pageLines(width int) []page.Line {
	if searched := !p.Words().IsZero(); p.width != width || p.laidOut.whole != searched {
		p.laidOut = laidOut{width: width, whole: searched, changes: p.changes}
		p.layout()
	}
	if p.Form == asHex {
		lines := make([]page.Line, (len(p.Frame.Raw)+15)/16)
		for i := range lines {
			lines[i].Item = i
		}
		return lines
	}
	shown := 0
	for i := 0; i < len(p.lines); i += 1 + p.below(i) {
		shown++
	}
	lines := make([]page.Line, 0, shown)
	for i := 0; i < len(p.lines); i++ {
		l := p.lines[i]
		line := page.Line{Item: i, Seq: seqOf(l.node)}
		switch {
		case l.part == around:
			line.Folded = []page.Line{}
			if p.isCut() {
				line.Folded = append(line.Folded, page.Line{Spans: p.envelopeSpans()})
			}
		case l.part == cutOff && p.whole[l.node]:
			continue
		case l.part == beginning && p.fold[l.node] && p.long(l.node, width):
			line.Preview = []termtext.Span{termtext.Plain.Span(termtext.Piece(p.tree.text(l.node))), termtext.Dim.Span(" …")}
		}
		if n := p.below(i); n > 0 || l.part == cutOff && l.node >= 0 {
			line.Folded = make([]page.Line, n)
			for k := range line.Folded {
				i++
				line.Folded[k] = page.Line{Item: i, Seq: seqOf(p.lines[i].node)}
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// below returns the number of lines after line i that are folded away below it.
func (p *Pane) below(i int) (n int) {
	var from, to int32 // range of values folded away
	switch l := p.lines[i]; {
	case l.part == cutOff && l.node >= 0 && !p.whole[l.node]:
		from, to = l.node, l.node+1
	case l.part == beginning && p.fold[l.node]:
		from, to = l.node, p.tree.nodes[l.node].end
	}
	for _, l := range p.lines[i+1:] {
		if l.node < from || to <= l.node {
			break
		}
		n++
	}
	return n
}

// seqOf returns the number by which the page identifies a value's lines.
func seqOf(node int32) uint64 { return uint64(node + 1) }

// layout makes the lines.
func (p *Pane) layout() {
	switch {
	case p.Form == asHex:
	case p.Form == asRaw || p.tree == nil:
		lines, more := wrapped(string(p.Frame.Raw), p.width, wire.MaxChecked)
		p.addText(-1, lines)
		if more || int64(len(p.Frame.Raw)) < p.Frame.Size {
			p.lines = append(p.lines, textLine{node: -1, part: cutOff})
		}
	default:
		p.layoutTree(p.width)
	}
}

// addText adds a text's lines.
func (p *Pane) addText(node int32, lines []page.TextRow) {
	p.lines = slices.Grow(p.lines, len(lines))
	for _, line := range lines {
		p.lines = append(p.lines, textLine{node: node, text: line.Text, part: inside, join: line.Join})
	}
}

// current returns the line under the cursor, or one without a value if there is none.
func (p *Pane) current() textLine {
	if i := p.Current().Item; p.Folds() && 0 <= i && i < len(p.lines) {
		return p.lines[i]
	}
	return textLine{node: -1}
}

// node returns the value under the cursor, or 0 if there is none.
func (p *Pane) node() int32 { return max(p.current().node, 0) }

// spans returns a line for drawing.
func (p *Pane) spans(item, _ int) []termtext.Span {
	if p.Form == asHex {
		return hexLine(p.Frame.Raw, item*16)
	}
	line := p.lines[item]
	margin := strings.Repeat(" ", p.margin(line))
	switch line.part {
	case inside, added, removed:
		return []termtext.Span{termtext.Plain.Span(margin), diffStyles[line.part].Span(line.text)}
	case cutOff:
		if line.node < 0 {
			return []termtext.Span{termtext.Dim.Span(fmt.Sprintf("… of %s; w writes the whole frame to a file", termtext.ByteSize(p.Frame.Size)))}
		}
		return []termtext.Span{termtext.Dim.Span(margin + "… more: Enter")}
	case around:
		return p.envelopeSpans()
	case ending:
		return []termtext.Span{termtext.Dim.Span(margin + string(p.tree.json[p.tree.nodes[line.node].to-1]))}
	}
	return append([]termtext.Span{termtext.Plain.Span(margin)}, p.valueSpans(line.node, p.fold[line.node])...)
}

// margin returns the number of blanks before a line.
func (p *Pane) margin(l textLine) int {
	switch {
	case l.node < 0, l.part == around:
		return 0
	case l.part == beginning, l.part == ending:
		return p.indent(l.node)
	}
	return p.indent(l.node) + 2
}

// text returns the searchable text of a line.
func (p *Pane) text(item int) page.TextRow {
	if p.Form == asHex { // the bytes
		return page.TextRow{Text: string(p.Frame.Raw[item*16 : min(item*16+16, len(p.Frame.Raw))]), Join: page.Within}
	}
	l := p.lines[item]
	row := page.TextRow{Text: l.text, Join: l.join}
	switch {
	case l.part == around && !p.isCut():
		row.Text = termtext.SpansText(p.envelopeSpans(), false)
	case l.part == beginning && p.long(l.node, p.width): // its text follows
		row.Text = termtext.SpansText(p.nameSpans(l.node), false)
	case l.part == beginning:
		row.Text = termtext.SpansText(p.valueSpans(l.node, false), false)
	}
	return row
}

// place moves marks in a line's searchable text to where the line shows it.
func (p *Pane) place(item int, marks []page.Mark) []page.Mark {
	if p.Form == asHex {
		return hexMarks(marks)
	}
	by := p.margin(p.lines[item])
	for i := range marks {
		marks[i].From += by
		marks[i].To += by
	}
	return marks
}
