package framepane

import (
	"maps"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// A finding is a search in a frame, and its matches in all lines that the frame has when
// nothing is folded.
type finding struct {
	search *page.Search // nil: nothing is looked for
	wanted bool         // show the first match once there are lines
	origin origin
	allLines
}

// allLines are the lines of a frame with nothing but the envelope folded, which the search
// covers.
type allLines struct {
	width int        // of the lines; 0: not made yet
	whole bool       // the envelope is unfolded
	lines []textLine // empty for hex
	rows  []page.TextRow
	spans []lineSpan // of the values, in lines
}

// A lineSpan is the first line of a value and its last one.
type lineSpan struct{ first, last int32 }

// An origin is where the user was before words were typed.
type origin struct {
	frame       uint64
	search      *page.Search
	cursor, top int
	fold, whole map[int32]bool
	unfolded    bool
}

// BeginSearch notes where the user is before typing words.
func (p *Pane) BeginSearch() {
	p.origin = origin{p.Frame.Seq, p.search, p.Cursor, p.top, maps.Clone(p.fold), maps.Clone(p.whole), p.unfolded}
}

// Search looks for words, and goes to the first match at or after the place that
// BeginSearch noted, if there is one.
func (p *Pane) Search(w page.Words) {
	p.toOrigin()
	if p.search = nil; w.IsZero() {
		return
	}
	p.search = page.NewSearch(w)
	p.toMatch(page.Here)
}

// CancelSearch returns to the place that BeginSearch noted.
func (p *Pane) CancelSearch() {
	p.toOrigin()
	p.search = p.origin.search
}

func (p *Pane) toOrigin() {
	if p.origin.frame != p.Frame.Seq || p.fold == nil { // another frame is shown by now, or none
		p.BeginSearch()
		return
	}
	p.fold, p.whole, p.unfolded = maps.Clone(p.origin.fold), maps.Clone(p.origin.whole), p.origin.unfolded
	if p.Form != asDiff {
		p.relayout()
	}
	p.Cursor, p.top = p.origin.cursor, p.origin.top
}

// EndSearch ends what Search began.
func (p *Pane) EndSearch() { p.search, p.allLines = nil, allLines{} }

// Words returns what is looked for.
func (p *Pane) Words() page.Words { return p.search.Words() }

// Look looks for words in the frame and in those shown after it, and shows the first match
// in each.
func (p *Pane) Look(w page.Words) {
	if p.search = nil; !w.IsZero() {
		p.search, p.wanted = page.NewSearch(w), true
	}
}

// NextMatch goes to the next match, or to the previous one. It reports whether there is
// one, and whether it wrapped around.
func (p *Pane) NextMatch(forward bool) (found, round bool) {
	if p.search == nil {
		return false, false
	}
	if forward {
		return p.toMatch(page.Next)
	}
	return p.toMatch(page.Previous)
}

// Match returns the number of the match under the cursor, from 1, 0 if it is on none, and
// the number of matches.
func (p *Pane) Match() (at, all int) {
	if p.search == nil || !p.searched() {
		return 0, 0
	}
	return p.search.Position(p.rowOf(p.Cursor))
}

// toMatch goes to a match and unfolds what surrounds it.
func (p *Pane) toMatch(to page.Step) (found, round bool) {
	if !p.searched() {
		return false, false
	}
	m, round := p.search.Go(to, p.rowOf(p.Cursor))
	if m == nil {
		return false, false
	}
	p.reveal(m[0].Row)
	if p.Cursor < p.top || p.Cursor >= p.top+p.height {
		p.top = p.Cursor - p.height/3 // with some lines around it
	}
	return true, round
}

// searched makes the lines to search and searches them, unless that was done. It reports
// whether there is a search.
func (p *Pane) searched() bool {
	if p.width == 0 {
		return false
	}
	made := p.allLines.width == p.width && p.allLines.whole == p.unfolded
	if !made {
		p.unfold()
	}
	if !made || !p.search.Searched() {
		p.search.Update(p.rows)
	}
	return true
}

// unfold makes the lines to search.
func (p *Pane) unfold() {
	p.allLines = allLines{width: p.width, whole: p.unfolded}
	switch {
	case p.Form == asHex:
		p.rows = p.hexRows()
		return
	case p.Form != asTree || p.tree == nil:
		p.allLines.lines = p.lines
	default:
		q := p.wholly()
		q.layoutTree(p.width)
		p.allLines.lines = q.lines
		p.spans = make([]lineSpan, len(p.tree.nodes))
	}
	shown := p.wholly()
	p.rows = make([]page.TextRow, len(p.allLines.lines))
	for i, l := range p.allLines.lines {
		if l.node >= 0 && p.spans != nil {
			s := &p.spans[l.node]
			if s.last = int32(i); l.part == beginning || l.part == around {
				s.first = int32(i)
			}
		}
		switch {
		case l.part == around:
			p.rows[i].Text = termtext.SpansText(p.envelopeSpans(), false)
		case l.part == beginning && shown.long(l.node, p.width): // its text follows
			p.rows[i].Text = termtext.SpansText(shown.nameSpans(l.node), false)
		case l.part == beginning:
			p.rows[i].Text = termtext.SpansText(shown.valueSpans(l.node), false)
		case l.part != ending && l.part != cutOff:
			p.rows[i] = page.TextRow{Text: l.text, Join: l.join}
		}
	}
}

// wholly returns a pane that shows the frame with nothing but the envelope folded.
func (p *Pane) wholly() Pane {
	return Pane{Frame: p.Frame, tree: p.tree, envelope: p.envelope, unfolded: p.unfolded, width: p.width, whole: p.whole, unfoldAll: true}
}

// rowOf returns the searched row for a line.
func (p *Pane) rowOf(k int) int {
	if p.Form != asTree || p.tree == nil || k >= len(p.lines) || p.lines[k].node < 0 {
		return k
	}
	l := p.lines[k]
	span := p.spans[l.node]
	switch l.part {
	case around:
		return int(span.first)
	case ending:
		return int(span.last)
	}
	first := k
	for p.lines[first].part != beginning {
		first--
	}
	return min(int(span.first)+k-first, int(span.last))
}

// reveal puts the cursor on the line of a searched row.
func (p *Pane) reveal(row int) {
	if p.Form != asTree || p.tree == nil || p.allLines.lines[row].node < 0 {
		p.Cursor = row
		return
	}
	n := p.allLines.lines[row].node
	inside := row - int(p.spans[n].first)
	for up := p.tree.nodes[n].parent; up >= 0; up = p.tree.nodes[up].parent {
		delete(p.fold, up)
	}
	if inside > 0 {
		delete(p.fold, n)
	}
	if p.whole[n] = p.whole[n] || inside > longString; !p.whole[n] {
		delete(p.whole, n)
	}
	p.relayout()
	p.pointAt(n)
	p.Cursor += inside
	if p.allLines.lines[row].part == around && termtext.Width(p.rows[row].Text) > p.width { // it may be cut off
		p.unfolded = true
		p.relayout()
		p.Cursor = 0
		p.toMatch(page.Here)
	}
}

// Marks returns the matches on a line, as bytes of its spans' text.
func (p *Pane) Marks(k int) []page.Mark {
	if p.search == nil || !p.searched() {
		return nil
	}
	if p.Form == asHex {
		return hexMarks(p.search.Marks(k))
	}
	l, row := p.lines[k], p.rowOf(k)
	if l.part == cutOff { // the cursor continues from there into what is not shown
		return nil
	}
	before := p.margin(l)
	marks := shifted(p.search.Marks(row), before)
	if l.part == beginning && p.fold[l.node] && !p.tree.holds(l.node) { // a part of the text follows the name
		name := before + len(p.rows[row].Text)
		marks = append(marks, shifted(p.search.Words().Marks(termtext.SpansText(p.Spans(k), false)[name:]), name)...)
	}
	return marks
}

// shifted moves marks.
func shifted(marks []page.Mark, by int) []page.Mark {
	for i := range marks {
		marks[i].From += by
		marks[i].To += by
	}
	return marks
}
