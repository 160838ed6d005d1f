// Package framepane shows one frame: its JSON as a foldable tree, its bytes as text or in
// hex, or its differences from another frame. It finds words in a frame, and values by
// path.
//
// A Pane lays out lines and draws none. It shows any bytes, including truncated JSON, and
// no character in its lines controls a terminal.
package framepane

import (
	"math"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Form is a way to show a frame.
type Form uint8

const (
	asTree Form = iota
	asRaw
	asHex
	asDiff // compared with another frame
	forms
)

func (f Form) String() string { return [forms]string{"tree", "raw", "hex", "diff"}[f] }

// A Pane is a page with one frame. The zero Pane shows none, as a tree.
type Pane struct {
	page.Page
	Frame dialect.Frame // including its bytes
	Form  Form
	Title string         // title of a comparison
	tree  *tree          // nil: the frame is not JSON
	fold  map[int32]bool // values that are folded
	whole map[int32]bool // long strings that are shown in full
	underlined

	envelope envelope
	unfolded bool // the envelope is shown as JSON, as received

	laidOut
}

// Show puts a frame into the pane. It keeps the form and resets the rest.
func (p *Pane) Show(f dialect.Frame) {
	p.Clear(f.Seq)
	p.Frame, p.fold, p.whole = f, map[int32]bool{}, map[int32]bool{}
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
	p.toTop()
}

// Clear empties the pane, leaving only the number of the frame. It keeps the form.
func (p *Pane) Clear(seq uint64) {
	form := p.Form
	if form == asDiff {
		form = asTree
	}
	*p = Pane{Page: p.Page, Form: form, unfolded: p.unfolded, underlined: underlined{brokenIn: p.brokenIn}}
	p.Frame.Seq = seq
	p.toTop()
}

// Next returns the form that follows the current one.
func (p *Pane) Next() Form { return (p.Form + 1) % asDiff }

// Switch shows the frame in the next form.
func (p *Pane) Switch() {
	p.Form = p.Next()
	p.toTop()
}

// Comparing reports whether a comparison is shown.
func (p *Pane) Comparing() bool { return p.Form == asDiff }

// toTop shows the first lines, or the first match if there is a search.
func (p *Pane) toTop() {
	words := p.Words()
	p.laidOut = laidOut{}
	p.Page = page.Page{Lines: p.pageLines, State: p.state, Late: p.spans, Text: p.text, Place: p.place}
	if p.Folds() {
		p.Flip, p.UpTo = p.flip, func() uint64 { return math.MaxUint64 }
		for n := range p.tree.nodes {
			if !p.enveloped(int32(n)) { // the contents of the envelope
				p.GoTo(seqOf(int32(n)))
				break
			}
		}
	}
	p.Look(words)
}
