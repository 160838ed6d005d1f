package framepane

import (
	"slices"

	"github.com/acptap/acptap/record/termtext"
)

// An envelope is the part that is much the same in all frames: its values share one line,
// and its contents start at the margin. The zero envelope is empty.
type envelope struct {
	opened []int32 // values of which only the members are shown, each within the previous one
	values []int32 // values on the line
}

// newEnvelope returns a frame's envelope, or the zero one if the frame contains nothing
// else.
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
		} else if t.nodes[params].children > 1 { // otherwise it is the frame's content
			e.fold(t, params, "sessionId")
		}
	}
	if len(e.opened)+len(e.values) == len(t.nodes) {
		return envelope{}
	}
	return e
}

// fold puts an object's member on the line, unless it has members itself.
func (e *envelope) fold(t *tree, object int32, name string) {
	if n := t.member(object, name); n >= 0 && !t.holds(n) {
		e.values = append(e.values, n)
	}
}

// open shows only the members of a member, if it has any.
func (e *envelope) open(t *tree, n int32) bool {
	if t.json[t.nodes[n].from] != '{' || t.nodes[n].children == 0 {
		return false
	}
	e.opened = append(e.opened, n)
	return true
}

// folded reports whether there is an envelope and it is shown as one line.
func (p *Pane) folded() bool { return len(p.envelope.opened) > 0 && !p.unfolded }

// enveloped reports whether a value has no line of its own because of the envelope.
func (p *Pane) enveloped(i int32) bool {
	return p.folded() && (slices.Contains(p.envelope.opened, i) || slices.Contains(p.envelope.values, i))
}

// outside returns the number of enclosing values that have no lines.
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

// shownName returns a member's name, preceded by its parent's where the name alone is
// ambiguous, as in `params._meta`.
func (p *Pane) shownName(i int32) string {
	t := p.tree
	name := t.name(i)
	if up := t.nodes[i].parent; up > 0 && p.enveloped(up) && up != p.envelope.opened[len(p.envelope.opened)-1] {
		name = t.name(up) + "." + name
	}
	return termtext.Piece(name)
}

// envelopeSpans returns the envelope's line.
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

// envelopeValue returns a value on the envelope's line.
func (p *Pane) envelopeValue(n int32) string {
	return termtext.Piece(p.tree.name(n)) + " " + termtext.Piece(string(p.tree.raw(n)))
}

// isCut reports whether the envelope does not fit on its line.
func (p *Pane) isCut() bool { return termtext.SpansWidth(p.envelopeSpans()) > p.width }
