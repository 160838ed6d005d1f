// Package framepane shows one frame: its JSON as a tree that folds, its bytes as text or in
// hex, or its differences from another frame. It finds words in a frame, and values by
// their paths.
//
// A Pane lays out lines and draws none. It shows any bytes, including truncated JSON, and
// no character in its lines controls a terminal.
package framepane

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Form is how a frame is shown.
type Form uint8

const (
	asTree Form = iota
	asRaw
	asHex
	asDiff // against another frame
	forms
)

func (f Form) String() string { return [forms]string{"tree", "raw", "hex", "diff"}[f] }

// A Pane shows one frame. The zero Pane shows none, as a tree.
type Pane struct {
	Frame     dialect.Frame // including its bytes
	Form      Form
	Title     string         // of a comparison
	tree      *tree          // nil: the frame is not JSON
	fold      map[int32]bool // values that are folded
	whole     map[int32]bool // long strings that are shown in full
	unfoldAll bool           // long strings are shown in full, and nothing is folded
	finding
	underlined

	envelope envelope
	unfolded bool // the envelope is shown as JSON, as it came

	lines  []textLine
	width  int // of the lines; 0: not made yet
	Cursor int // index in lines
	top    int
	height int
}

// A textLine is a line of a value. Its text is made when it is drawn, because there may be
// half a million lines.
type textLine struct {
	node int32  // -1: none
	text string // of a string that takes several lines, of a diff, or of raw bytes
	part linePart
	join page.Join // to the line before
}

type linePart uint8

const (
	beginning linePart = iota // name and value, or the beginning of the value
	inside                    // a line of a string
	added                     // a line of a diff
	removed
	ending // a closing bracket
	cutOff // more follows that is not shown
	around // the envelope
)

// longString is the number of lines of a string that are shown until it is unfolded.
const longString = 24

// Show puts a frame into the pane. It keeps the form and resets the rest.
func (p *Pane) Show(f dialect.Frame) {
	form, words, unfolded, brokenIn := p.Form, p.Words(), p.unfolded, p.brokenIn
	if form == asDiff {
		form = asTree
	}
	*p = newPane(f, form)
	p.unfolded, p.brokenIn = unfolded, brokenIn
	p.Look(words)
	raw := f.Raw[:min(len(f.Raw), wire.MaxChecked)]
	switch f.Kind {
	case wire.Invalid, wire.Stderr, wire.Body:
	case wire.Oversized:
		p.tree = newTree(frametext.Completed(raw))
	default:
		p.tree = newTree(raw)
	}
	if p.tree != nil && len(p.tree.nodes) == 0 {
		p.tree = nil
	}
	p.envelope = newEnvelope(p.tree, f.Update != "")
}

func newPane(f dialect.Frame, form Form) Pane {
	return Pane{Frame: f, Form: form, fold: map[int32]bool{}, whole: map[int32]bool{}}
}

// Clear shows nothing in place of the frame of that number. It keeps the form.
func (p *Pane) Clear(seq uint64) {
	words := p.Words()
	*p = Pane{Form: p.Form, unfolded: p.unfolded, underlined: underlined{brokenIn: p.brokenIn}}
	p.Frame.Seq = seq
	p.Look(words)
}

// Next returns the form that follows the one that is shown.
func (p *Pane) Next() Form { return (p.Form + 1) % asDiff }

// Switch shows the frame in the next form.
func (p *Pane) Switch() {
	p.Form = p.Next()
	p.lines, p.width, p.Cursor = nil, 0, 0
	p.allLines = allLines{}
	p.Look(p.Words())
}

// Comparing reports whether a comparison is shown.
func (p *Pane) Comparing() bool { return p.Form == asDiff }

// layout makes the lines for a width.
func (p *Pane) layout(width int) {
	if p.Form == asDiff || p.width == width {
		p.width = width
		return
	}
	node, begins := p.node(), p.lines == nil
	p.lines, p.width = nil, width
	switch {
	case p.Form == asHex:
	case p.Form == asRaw || p.tree == nil:
		lines, more := wrapped(string(p.Frame.Raw), width, wire.MaxChecked)
		p.addText(-1, lines)
		if more || int64(len(p.Frame.Raw)) < p.Frame.Size {
			p.lines = append(p.lines, textLine{node: -1, part: cutOff})
		}
	default:
		p.layoutTree(width)
		if p.pointAt(node); begins && p.folded() {
			p.Cursor = 1 // on what the envelope holds
		}
	}
}

// addText adds the lines of a text.
func (p *Pane) addText(node int32, lines []wrappedLine) {
	for i, line := range lines {
		l := textLine{node: node, text: line.text, part: inside}
		switch {
		case line.within:
			l.join = page.Within
		case i > 0:
			l.join = page.AtBlank
		}
		p.lines = append(p.lines, l)
	}
}

// count returns how many lines there are.
func (p *Pane) count() int {
	if p.Form == asHex {
		return (len(p.Frame.Raw) + 15) / 16
	}
	return len(p.lines)
}

// Spans returns a line for drawing.
func (p *Pane) Spans(k int) []termtext.Span {
	if p.Form == asHex {
		return hexLine(p.Frame.Raw, k*16)
	}
	line := p.lines[k]
	margin := strings.Repeat(" ", p.margin(line))
	switch line.part {
	case inside:
		return []termtext.Span{termtext.Plain.Span(margin), termtext.Plain.Span(line.text)}
	case added:
		return []termtext.Span{termtext.Plain.Span(margin), termtext.Green.Span(line.text)}
	case removed:
		return []termtext.Span{termtext.Plain.Span(margin), termtext.Red.Span(line.text)}
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
	return append([]termtext.Span{termtext.Plain.Span(margin)}, p.valueSpans(line.node)...)
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

// node returns the value under the cursor, 0 if there is none.
func (p *Pane) node() int32 {
	if p.Form == asTree && p.Cursor < len(p.lines) {
		return max(p.lines[p.Cursor].node, 0)
	}
	return 0
}

// pointAt puts the cursor on a value.
func (p *Pane) pointAt(n int32) {
	for i, line := range p.lines {
		if line.node == n {
			p.Cursor = i
			return
		}
	}
	p.Cursor = 0
}

// Move moves the cursor n lines down.
func (p *Pane) Move(n int) { p.Cursor = max(min(p.Cursor+n, p.count()-1), 0) }

// Turn moves the window and the cursor some pages down.
func (p *Pane) Turn(pages int) {
	n := pages * max(p.height-1, 1)
	p.top += n
	p.Move(n)
}

// Point puts the cursor on a line of the window.
func (p *Pane) Point(y int) { p.Move(p.top + y - p.Cursor) }

// relayout makes the lines anew.
func (p *Pane) relayout() {
	width := p.width
	p.width = 0
	p.layout(width)
}

// Window returns the range of lines on a screen of some height.
func (p *Pane) Window(width, height int) (from, to int) {
	p.layout(width)
	p.height = height
	if p.wanted && p.search != nil {
		p.wanted = false
		p.toMatch(page.Here)
	}
	p.toUnderlined()
	p.Cursor = max(min(p.Cursor, p.count()-1), 0)
	if p.Cursor < p.top {
		p.top = p.Cursor
	}
	if p.Cursor >= p.top+height {
		p.top = p.Cursor - height + 1
	}
	p.top = max(min(p.top, p.count()-height), 0)
	return p.top, min(p.top+height, p.count())
}
