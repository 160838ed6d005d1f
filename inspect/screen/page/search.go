package page

import (
	"slices"

	"github.com/acptap/acptap/record/termtext"
)

// A finding is a search together with its matches in the lines.
type finding struct {
	search *Search // nil: there is no search
	of     searched
	starts []int // for each shown line, its first searched row
	origin origin
}

// searched identifies the lines that a search has covered.
type searched struct {
	search *Search
	times  int // number of times that lines had been built
}

// An origin is where the user was before typing words.
type origin struct {
	search   *Search
	line     int // among all lines
	top      int
	moved    bool
	follow   bool
	unfolded []Line // for the words typed so far
}

// BeginSearch remembers where the user is before typing words.
func (p *Page) BeginSearch() {
	p.begun = true
	p.origin = origin{search: p.search, line: p.lineAt(p.cursor), top: p.top, moved: p.moved, follow: p.follow}
}

// Search searches for words, and goes to the first match at or after the place that
// BeginSearch remembered, if there is one.
func (p *Page) Search(w Words) {
	p.toOrigin()
	if p.search = nil; !w.IsZero() {
		p.search = NewSearch(w)
	}
	p.arrange(p.width)
	p.putOn(p.origin.line)
	if p.search != nil {
		p.origin.unfolded = p.step(Here)
	}
}

// CancelSearch returns to the place that BeginSearch remembered.
func (p *Page) CancelSearch() {
	p.toOrigin()
	p.search = p.origin.search
	p.arrange(p.width)
	p.putOn(p.origin.line)
	p.top, p.moved, p.follow = p.origin.top, p.origin.moved, p.origin.follow
}

// toOrigin refolds what was unfolded for the previous words.
func (p *Page) toOrigin() {
	for _, l := range slices.Backward(p.origin.unfolded) {
		p.Flip(l)
	}
	p.origin.unfolded = nil
}

// Look makes the next Window search for words and go to the first match, if there is one.
func (p *Page) Look(w Words) {
	if p.search = nil; !w.IsZero() {
		p.search, p.look = NewSearch(w), true
	}
}

// EndSearch ends a search started by Search. The cursor stays on its line.
func (p *Page) EndSearch() {
	at, line := p.anchor(), p.lineAt(p.cursor)
	p.search = nil
	p.arrange(p.width)
	p.putOn(line)
	if !p.Narrows { // otherwise at counts only the lines that matched
		p.stayOn(at)
	}
}

// Words returns the words being searched for.
func (p *Page) Words() Words { return p.search.Words() }

// NextMatch goes to the next or previous match. It reports whether there is one, and
// whether it wrapped around.
func (p *Page) NextMatch(forward bool) (found, round bool) {
	if p.search == nil || len(p.starts) == 0 {
		return false, false
	}
	to := Next
	if !forward {
		to = Previous
	}
	m, round := p.search.Go(to, p.starts[p.cursor])
	p.reveal(m)
	return m != nil, round
}

// Match returns the number of the match under the cursor, from 1, or 0 if there is none,
// and the number of matches.
func (p *Page) Match() (at, all int) {
	if p.search == nil || len(p.starts) == 0 {
		return 0, 0
	}
	return p.search.Position(p.starts[p.cursor])
}

// step goes to a match, and returns the lines that it unfolded for that.
func (p *Page) step(to Step) (unfolded []Line) {
	if len(p.starts) == 0 {
		return nil
	}
	m, _ := p.search.Go(to, p.starts[p.cursor])
	return p.reveal(m)
}

// reveal puts the cursor on a match. If the match is folded away, reveal unfolds the
// lines that contain it, outermost first, and returns those lines.
func (p *Page) reveal(m Match) (unfolded []Line) {
	if m == nil {
		return nil
	}
	i := p.lineOf(m[0].Row)
	for last := -1; m[0].Row > p.starts[i] && p.Flip != nil && i > last; {
		unfolded = append(unfolded, p.shown[i])
		p.Flip(p.shown[i])
		p.arrange(p.width)
		if m = p.search.Current(); m == nil { // fewer lines match now
			if m, _ = p.search.Go(Here, p.starts[min(i, len(p.starts)-1)]); m == nil {
				return unfolded
			}
		}
		last, i = i, p.lineOf(m[0].Row)
	}
	p.Move(i - p.cursor)
	p.jump(i)
	return unfolded
}

// lineOf returns the shown line to which a searched row belongs.
func (p *Page) lineOf(row int) int {
	i := len(p.starts) - 1
	for i > 0 && p.starts[i] > row {
		i--
	}
	return i
}

// update searches the shown lines, unless that has been done.
func (p *Page) update() {
	if p.search == nil {
		p.of = searched{}
		return
	}
	if now := (searched{p.search, p.made.times}); p.of != now {
		p.of = now
		p.search.Update(p.rows())
	}
}

// rows returns the searchable rows of the shown lines.
func (p *Page) rows() []TextRow {
	rows := make([]TextRow, 0, len(p.shown))
	p.starts = p.starts[:0]
	for i := range p.shown {
		l := &p.shown[i]
		p.starts = append(p.starts, len(rows))
		row := p.textRow(l)
		if p.Narrows && !p.fits[i] {
			row.Text = ""
		}
		rows = append(rows, row)
		for k := range l.Folded {
			rows = append(rows, p.textRow(&l.Folded[k]))
		}
	}
	return rows
}

// textRow returns a line's searchable text.
func (p *Page) textRow(l *Line) TextRow {
	switch {
	case l.Spans == nil && p.Text != nil:
		return p.Text(l.Item)
	case l.Joined:
		return TextRow{p.text(l), AtBlank}
	}
	return TextRow{p.text(l), Apart}
}

// text returns the text by which a line is found.
func (p *Page) text(l *Line) string {
	text := termtext.SpansText(p.spans(l), false)
	if l.Also != "" {
		text += "\n" + l.Also
	}
	return text
}

// row returns a line for the screen.
func (p *Page) row(i int) Row {
	l := &p.shown[i]
	r := Row{Item: l.Item, Spans: p.spans(l)}
	if p.search == nil {
		r.Spans = append(r.Spans[:len(r.Spans):len(r.Spans)], l.Preview...)
		return r
	}
	length := len(termtext.SpansText(r.Spans, false))
	marks := p.search.Marks(p.starts[i])
	if p.Place != nil {
		marks = p.Place(l.Item, marks)
	}
	for _, m := range marks {
		if m.From < length {
			r.Marks = append(r.Marks, m)
		}
	}
	for _, m := range p.search.Words().Marks(termtext.SpansText(l.Preview, false)) {
		r.Marks = append(r.Marks, Mark{From: length + m.From, To: length + m.To})
	}
	r.Spans = append(r.Spans[:len(r.Spans):len(r.Spans)], l.Preview...)
	return r
}
