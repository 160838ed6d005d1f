package framepane

import "github.com/acptap/acptap/inspect/screen/page"

// Folds reports whether the form shows foldable values.
func (p *Pane) Folds() bool { return p.tree != nil && p.Form == asTree }

// Open folds or unfolds the value under the cursor, or shows all of it.
func (p *Pane) Open() {
	if p.Folds() {
		p.FlipHere()
	}
}

// flip folds or unfolds a line's value, or shows all of it.
func (p *Pane) flip(line page.Line) {
	l := p.lines[line.Item]
	p.changes++
	switch {
	case l.node < 0:
	case l.node == 0 && len(p.envelope.opened) > 0:
		p.unfolded, p.width = !p.unfolded, 0
	case l.part == cutOff, p.base64(l.node) != "":
		p.whole[l.node], p.width = !p.whole[l.node], 0
	default:
		p.fold[l.node] = !p.fold[l.node]
	}
}

// Close folds the value under the cursor or, if it cannot be folded, goes to its parent.
func (p *Pane) Close() {
	if !p.Folds() {
		return
	}
	n := p.node()
	if n == 0 && p.folded() || p.fold[n] || n > 0 && !p.tree.holds(n) && !p.long(n, p.width) {
		up := max(p.tree.nodes[n].parent, 0)
		for up > 0 && p.enveloped(up) {
			up = p.tree.nodes[up].parent
		}
		p.GoTo(seqOf(up))
		return
	}
	p.Open()
}
