package framepane

// Folds reports whether the form shows values that can be folded.
func (p *Pane) Folds() bool { return p.tree != nil && p.Form == asTree }

// Open folds or unfolds the value under the cursor, or shows all of it.
func (p *Pane) Open() {
	if !p.Folds() || p.Cursor >= len(p.lines) {
		return
	}
	line := p.lines[p.Cursor]
	switch {
	case line.node < 0:
		return
	case line.node == 0 && len(p.envelope.opened) > 0:
		p.flipEnvelope()
		return
	case line.part == cutOff, p.base64(line.node) != "":
		p.whole[line.node], p.allLines = true, allLines{}
	default:
		p.fold[line.node] = !p.fold[line.node]
	}
	p.relayout()
	p.pointAt(line.node)
}

// Close folds the value under the cursor or, if it cannot be folded, goes to its parent.
func (p *Pane) Close() {
	if !p.Folds() || p.Cursor >= len(p.lines) {
		return
	}
	n := p.node()
	if n == 0 && p.folded() || p.fold[n] || n > 0 && !p.tree.holds(n) && !p.long(n, p.width) {
		for up := p.tree.nodes[n].parent; up >= 0; up = p.tree.nodes[up].parent {
			if !p.enveloped(up) {
				p.pointAt(up)
				return
			}
		}
		p.Cursor = 0
		return
	}
	p.Open()
}

// Unfold unfolds the value under the cursor.
func (p *Pane) Unfold() {
	if !p.Folds() || p.Cursor >= len(p.lines) {
		return
	}
	if n := p.node(); p.fold[n] || n == 0 && p.folded() || p.lines[p.Cursor].part == cutOff {
		p.Open()
	}
}
