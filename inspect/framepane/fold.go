package framepane

// Folds reports whether there are values that open folds.
func (p *Pane) Folds() bool { return p.tree != nil && p.Form == asTree }

// Open folds the value under the cursor, or unfolds it, or shows all of it.
func (p *Pane) Open() {
	if !p.Folds() || p.Cursor >= len(p.lines) {
		return
	}
	line := p.lines[p.Cursor]
	switch {
	case line.node < 0:
		return
	case line.part == cutOff, p.base64(line.node) != "":
		p.whole[line.node] = true
	default:
		p.fold[line.node] = !p.fold[line.node]
	}
	p.relayout()
	p.pointAt(line.node)
}
