package framepane

// Find puts the cursor on the next place with the words: a line of the text that
// it is in, or else another value.
func (p *Pane) Find(words string, forward bool) bool {
	if p.tree == nil || p.Form != asTree {
		return p.findLine(words, forward)
	}
	if p.findInside(words, p.node(), p.Cursor, forward) {
		return true
	}
	n := p.tree.find(words, p.node(), forward)
	if n < 0 {
		return false
	}
	for up := p.tree.nodes[n].parent; up >= 0; up = p.tree.nodes[up].parent {
		delete(p.fold, up)
	}
	p.relayout()
	p.pointAt(n)
	from := p.Cursor
	if !forward {
		from = len(p.lines)
	}
	p.findInside(words, n, from, forward) // else they stand in its first line
	return true
}

// findInside puts the cursor on the next line of a long text with the words,
// behind a line or before it, and shows all of the text for that.
func (p *Pane) findInside(words string, n int32, line int, forward bool) bool {
	if p.tree.holds(n) || !p.long(n, p.width) || !hasWords(p.tree.text(n), words) {
		return false
	}
	at := p.Cursor
	p.whole[n] = true
	delete(p.fold, n)
	p.relayout()
	p.Cursor = at // the lines up to there are as they were
	found := -1
	for i, l := range p.lines {
		if l.node != n || !hasWords(l.text, words) {
			continue
		}
		if forward && i > line {
			found = i
			break
		}
		if !forward && i < line {
			found = i
		}
	}
	if found < 0 {
		return false
	}
	p.Cursor = found
	return true
}

// findLine is Find where there are no values.
func (p *Pane) findLine(words string, forward bool) bool {
	n := len(p.lines)
	for k := 1; k <= n; k++ {
		i := (p.Cursor + k) % n
		if !forward {
			i = (p.Cursor - k + n) % n
		}
		if hasWords(p.lines[i].text, words) {
			p.Cursor = i
			return true
		}
	}
	return false
}
