package inspect

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A paneForm is how a frame is shown.
type paneForm uint8

const (
	asTree paneForm = iota
	asRaw
	asHex
	asDiff // against another frame
	paneForms
)

var paneNames = [paneForms]string{"tree", "raw", "hex", "diff"}

// A pane shows one frame.
type pane struct {
	frame dialect.Frame // with its bytes
	form  paneForm
	title string // of a comparison
	tree  *tree  // nil: the frame is no JSON
	words string // that were searched
	fold  map[int32]bool
	whole map[int32]bool // long strings that are shown to their ends

	lines  []paneLine
	width  int // that lines were made for; 0: they are to be made
	cursor int // index in lines
	top    int
	height int
}

// A paneLine is a line of a value. It is a few words, and its text is made when it
// is drawn, for there may be half a million of them.
type paneLine struct {
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

// show puts a frame into the pane. The form stays, the rest begins anew.
func (p *pane) show(f dialect.Frame) {
	form := p.form
	if form == asDiff {
		form = asTree
	}
	*p = pane{frame: f, form: form, words: p.words, fold: map[int32]bool{}, whole: map[int32]bool{}}
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

// next returns the form that follows the one that is shown.
func (p *pane) next() paneForm { return (p.form + 1) % asDiff }

// layout makes the lines for a width.
func (p *pane) layout(width int) {
	if p.form == asDiff || p.width == width {
		return
	}
	node := p.node()
	p.lines, p.width = nil, width
	switch {
	case p.form == asHex:
	case p.form == asRaw || p.tree == nil:
		lines, more := wrapped(string(p.frame.Raw), width, wire.MaxChecked)
		for _, line := range lines {
			p.lines = append(p.lines, paneLine{-1, line, inside})
		}
		if more || int64(len(p.frame.Raw)) < p.frame.Size {
			p.lines = append(p.lines, paneLine{-1, "", cutOff})
		}
	default:
		p.layoutTree(width)
		p.point(node)
	}
}

// count returns how many lines there are.
func (p *pane) count() int {
	if p.form == asHex {
		return (len(p.frame.Raw) + 15) / 16
	}
	return len(p.lines)
}

// spans returns a line for drawing.
func (p *pane) spans(k int) []termtext.Span {
	if p.form == asHex {
		return hexLine(p.frame.Raw, k*16)
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
			return []termtext.Span{termtext.Dim.Span(fmt.Sprintf("… of %s; w writes the whole frame to a file", termtext.ByteSize(p.frame.Size)))}
		}
		return []termtext.Span{termtext.Dim.Span(margin + "… more: Enter")}
	case ending:
		return []termtext.Span{termtext.Dim.Span(margin[:len(margin)-2] + string(p.tree.json[p.tree.nodes[line.node].to-1]))}
	}
	return append([]termtext.Span{termtext.Plain.Span(margin[:len(margin)-2])}, p.value(line.node)...)
}

func hexLine(raw []byte, from int) []termtext.Span {
	part := raw[from:min(from+16, len(raw))]
	var hex, text strings.Builder
	for i := range 16 {
		if i == 8 {
			hex.WriteByte(' ')
		}
		if i >= len(part) {
			hex.WriteString("   ")
			continue
		}
		fmt.Fprintf(&hex, "%02x ", part[i])
		if c := part[i]; ' ' <= c && c <= '~' {
			text.WriteByte(c)
		} else {
			text.WriteByte('.')
		}
	}
	return []termtext.Span{termtext.Dim.Span(fmt.Sprintf("%08x  ", from)), termtext.Plain.Span(hex.String() + " "), termtext.Green.Span(text.String())}
}

// node returns the value that the cursor is on, 0 if it is on none.
func (p *pane) node() int32 {
	if p.form == asTree && p.cursor < len(p.lines) {
		return max(p.lines[p.cursor].node, 0)
	}
	return 0
}

// point puts the cursor on a value.
func (p *pane) point(n int32) {
	for i, line := range p.lines {
		if line.node == n {
			p.cursor = i
			return
		}
	}
	p.cursor = 0
}

// move moves the cursor n lines down.
func (p *pane) move(n int) { p.cursor = max(min(p.cursor+n, p.count()-1), 0) }

// folds reports whether there are values that open folds.
func (p *pane) folds() bool { return p.tree != nil && p.form == asTree }

// open folds the value under the cursor, or unfolds it, or shows all of it.
func (p *pane) open() {
	if !p.folds() || p.cursor >= len(p.lines) {
		return
	}
	line := p.lines[p.cursor]
	switch {
	case line.node < 0:
		return
	case line.part == cutOff, p.base64(line.node) != "":
		p.whole[line.node] = true
	default:
		p.fold[line.node] = !p.fold[line.node]
	}
	p.relayout()
	p.point(line.node)
}

// relayout makes the lines anew.
func (p *pane) relayout() {
	width := p.width
	p.width = 0
	p.layout(width)
}

// window returns the first and the last but one line on a screen of some lines.
func (p *pane) window(width, height int) (from, to int) {
	p.layout(width)
	p.height = height
	p.cursor = max(min(p.cursor, p.count()-1), 0)
	if p.cursor < p.top {
		p.top = p.cursor
	}
	if p.cursor >= p.top+height {
		p.top = p.cursor - height + 1
	}
	p.top = max(min(p.top, p.count()-height), 0)
	return p.top, min(p.top+height, p.count())
}
