package inspect

import "github.com/acptap/acptap/record/termtext"

// find puts the cursor on the next place with the words: a line of the text that
// it is in, or else another value.
func (p *pane) find(words string, forward bool) bool {
	if p.tree == nil || p.form != asTree {
		return p.findLine(words, forward)
	}
	if p.findInside(words, p.node(), p.cursor, forward) {
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
	p.point(n)
	from := p.cursor
	if !forward {
		from = len(p.lines)
	}
	p.findInside(words, n, from, forward) // else they stand in its first line
	return true
}

// findInside puts the cursor on the next line of a long text with the words,
// behind a line or before it, and shows all of the text for that.
func (p *pane) findInside(words string, n int32, line int, forward bool) bool {
	if p.tree.holds(n) || !p.long(n, p.width) || !hasWords(p.tree.text(n), words) {
		return false
	}
	at := p.cursor
	p.whole[n] = true
	delete(p.fold, n)
	p.relayout()
	p.cursor = at // the lines up to there are as they were
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
	p.cursor = found
	return true
}

// findLine is find where there are no values.
func (p *pane) findLine(words string, forward bool) bool {
	n := len(p.lines)
	for k := 1; k <= n; k++ {
		i := (p.cursor + k) % n
		if !forward {
			i = (p.cursor - k + n) % n
		}
		if hasWords(p.lines[i].text, words) {
			p.cursor = i
			return true
		}
	}
	return false
}

func (a *app) askSearch() {
	a.ask("search: ", a.pane.words, func(words string) error {
		if a.pane.words = words; words != "" {
			a.searchFrame(true)
		}
		return nil
	})
}

func (a *app) searchFrame(forward bool) {
	if a.pane.words == "" {
		a.askSearch()
	} else if !a.pane.find(a.pane.words, forward) {
		a.say("not in this frame: " + termtext.Piece(a.pane.words))
	}
}
