package framepane

import (
	"slices"

	"github.com/acptap/acptap/record/termtext"
)

// An envelope is the part that is much the same in all frames: its values share one line,
// and what it holds begins at the margin. The zero envelope has nothing.
type envelope struct {
	opened []int32 // values shown only by their members, each within the one before
	values []int32 // on the line
}

// newEnvelope returns the envelope of a frame, the zero one if the frame has nothing else.
func newEnvelope(t *tree, update bool) envelope {
	if t == nil || len(t.nodes) == 0 || t.json[t.nodes[0].from] != '{' {
		return envelope{}
	}
	e := envelope{opened: []int32{0}}
	for _, name := range []string{"jsonrpc", "id", "method"} {
		e.fold(t, 0, name)
	}
	if len(e.values) == 0 {
		return envelope{}
	}
	if result := t.member(0, "result"); result >= 0 {
		e.open(t, result)
	}
	if params := t.member(0, "params"); params >= 0 && e.open(t, params) {
		if body := t.member(params, "update"); body >= 0 && update && e.open(t, body) {
			e.fold(t, params, "sessionId")
			e.fold(t, body, "sessionUpdate")
		} else if t.nodes[params].children > 1 { // else it is what the frame says
			e.fold(t, params, "sessionId")
		}
	}
	if len(e.opened)+len(e.values) == len(t.nodes) {
		return envelope{}
	}
	return e
}

// fold puts a member of an object on the line, unless it has members.
func (e *envelope) fold(t *tree, object int32, name string) {
	if n := t.member(object, name); n >= 0 && !t.holds(n) {
		e.values = append(e.values, n)
	}
}

// open shows a member only by its members, if it has any.
func (e *envelope) open(t *tree, n int32) bool {
	if t.json[t.nodes[n].from] != '{' || t.nodes[n].children == 0 {
		return false
	}
	e.opened = append(e.opened, n)
	return true
}

// folded reports whether there is an envelope, and it is one line.
func (p *Pane) folded() bool { return len(p.envelope.opened) > 0 && !p.unfolded }

// enveloped reports whether a value has no line of its own.
func (p *Pane) enveloped(i int32) bool {
	return p.folded() && (slices.Contains(p.envelope.opened, i) || slices.Contains(p.envelope.values, i))
}

// outside returns how many of the values around one have no lines.
func (p *Pane) outside(i int32) int {
	if !p.folded() {
		return 0
	}
	n := 0
	for _, o := range p.envelope.opened {
		if o < i && i < p.tree.nodes[o].end {
			n++
		}
	}
	return n
}

// shownName returns the name of a member, preceded by that of its parent where the name
// alone is ambiguous, as in `params._meta`.
func (p *Pane) shownName(i int32) string {
	t := p.tree
	name := t.name(i)
	if up := t.nodes[i].parent; up > 0 && p.enveloped(up) && up != p.envelope.opened[len(p.envelope.opened)-1] {
		name = t.name(up) + "." + name
	}
	return termtext.Piece(name)
}

// envelopeSpans returns the line of the envelope.
func (p *Pane) envelopeSpans() []termtext.Span {
	text := envelopeSign
	for i, n := range p.envelope.values {
		if i > 0 {
			text += envelopeGap
		}
		text += " " + p.envelopeValue(n)
	}
	return []termtext.Span{termtext.Repeats.Span(text)}
}

const (
	envelopeSign = "▸"
	envelopeGap  = " ·"
)

// envelopeValue returns a value on the line of the envelope.
func (p *Pane) envelopeValue(n int32) string {
	return termtext.Piece(p.tree.name(n)) + " " + termtext.Piece(string(p.tree.raw(n)))
}

// flipEnvelope folds or unfolds the envelope of this frame and of those that follow.
func (p *Pane) flipEnvelope() {
	p.unfolded = !p.unfolded
	p.relayout()
	p.Cursor = 0
}
