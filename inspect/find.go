package inspect

// find puts the cursor on the next value with the words.
func (p *pane) find(words string, forward bool) bool {
	if p.tree == nil || p.form != asTree {
		return p.findLine(words, forward)
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
	for i := p.cursor; i < len(p.lines) && p.lines[i].node == n; i++ {
		if hasWords(p.lines[i].text, words) {
			p.cursor = i
			break
		}
	}
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
		a.say("not in this frame: " + piece(a.pane.words))
	}
}
