// Package framepane shows one frame: its JSON as a tree that folds, its bytes as text or
// in hex, or what differs from another frame. It finds words in a frame, and values by
// their paths.
//
// A Pane lays out lines and draws none. It shows any bytes, also JSON that was cut off,
// and no character in its lines controls a terminal.
package framepane

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/frametext"
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
	Frame dialect.Frame // with its bytes
	Form  Form
	Title string         // of a comparison
	tree  *tree          // nil: the frame is no JSON
	Words string         // that were searched
	fold  map[int32]bool // values that are folded
	whole map[int32]bool // long strings that are shown to their ends

	lines  []textLine
	width  int // that lines were made for; 0: lines are to be made
	Cursor int // index in lines
	top    int
	height int
}

// A textLine is a line of a value. It is a few words, and its text is made when it
// is drawn, for there may be half a million of them.
type textLine struct {
	node int32  // -1: none
	text string // of a string that takes several lines, of a diff, or of raw bytes
	part linePart
}

type linePart uint8

const (
	beginning linePart = iota // name and value, or what the value begins with
	inside                    // a line of a string
	added                     // a line of a diff
	removed
	ending // a closing bracket
	cutOff // there is more of it
)

// longString is how many lines of a string are shown until it is unfolded.
const longString = 24

// Show puts a frame into the pane. The form stays, the rest begins anew.
func (p *Pane) Show(f dialect.Frame) {
	form, words := p.Form, p.Words
	if form == asDiff {
		form = asTree
	}
	*p = newPane(f, form)
	p.Words = words
	raw := f.Raw[:min(len(f.Raw), wire.MaxChecked)]
	switch f.Kind {
	case wire.Invalid, wire.Stderr:
	case wire.Oversized:
		p.tree = newTree(frametext.Completed(raw))
	default:
		p.tree = newTree(raw)
	}
	if p.tree != nil && len(p.tree.nodes) == 0 {
		p.tree = nil
	}
}

func newPane(f dialect.Frame, form Form) Pane {
	return Pane{Frame: f, Form: form, fold: map[int32]bool{}, whole: map[int32]bool{}}
}

// Clear shows nothing in place of the frame with that number. The form stays.
func (p *Pane) Clear(seq uint64) {
	*p = Pane{Form: p.Form}
	p.Frame.Seq = seq
}

// Next returns the form that follows the one that is shown.
func (p *Pane) Next() Form { return (p.Form + 1) % asDiff }

// Switch shows the frame in the next form.
func (p *Pane) Switch() {
	p.Form = p.Next()
	p.width, p.Cursor = 0, 0
}

// Comparing reports whether a comparison is shown.
func (p *Pane) Comparing() bool { return p.Form == asDiff }

// layout makes the lines for a width.
func (p *Pane) layout(width int) {
	if p.Form == asDiff || p.width == width {
		return
	}
	node := p.node()
	p.lines, p.width = nil, width
	switch {
	case p.Form == asHex:
	case p.Form == asRaw || p.tree == nil:
		lines, more := wrapped(string(p.Frame.Raw), width, wire.MaxChecked)
		for _, line := range lines {
			p.lines = append(p.lines, textLine{-1, line, inside})
		}
		if more || int64(len(p.Frame.Raw)) < p.Frame.Size {
			p.lines = append(p.lines, textLine{-1, "", cutOff})
		}
	default:
		p.layoutTree(width)
		p.pointAt(node)
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
	margin := ""
	if line.node >= 0 {
		margin = strings.Repeat(" ", p.indent(line.node)+2)
	}
	switch line.part {
	case inside:
		s := termtext.Green
		if line.node < 0 {
			s = termtext.Plain
		}
		return []termtext.Span{termtext.Plain.Span(margin), s.Span(line.text)}
	case added:
		return []termtext.Span{termtext.Plain.Span(margin), termtext.Green.Span(line.text)}
	case removed:
		return []termtext.Span{termtext.Plain.Span(margin), termtext.Red.Span(line.text)}
	case cutOff:
		if line.node < 0 {
			return []termtext.Span{termtext.Dim.Span(fmt.Sprintf("… of %s; w writes the whole frame to a file", termtext.ByteSize(p.Frame.Size)))}
		}
		return []termtext.Span{termtext.Dim.Span(margin + "… more: Enter")}
	case ending:
		return []termtext.Span{termtext.Dim.Span(margin[:len(margin)-2] + string(p.tree.json[p.tree.nodes[line.node].to-1]))}
	}
	return append([]termtext.Span{termtext.Plain.Span(margin[:len(margin)-2])}, p.valueSpans(line.node)...)
}

// node returns the value that the cursor is on, 0 if it is on none.
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

// Window returns the first and the last but one line on a screen of some lines.
func (p *Pane) Window(width, height int) (from, to int) {
	p.layout(width)
	p.height = height
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
