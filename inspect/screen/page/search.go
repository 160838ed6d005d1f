package page

import (
	"github.com/acptap/acptap/record/termtext"
)

// A finding is a search and its matches in the lines.
type finding struct {
	search *Search // nil: nothing is looked for
	of     searched
	starts []int // first searched row of each shown line
	origin origin
}

// searched identifies the lines that a search has covered.
type searched struct {
	search *Search
	times  int // number of times that lines had been built
}

// An origin is where the user was before words were typed.
type origin struct {
	search   *Search
	line     int // among all lines
	top      int
	moved    bool
	follow   bool
	unfolded *Line // unfolded for the words typed so far
}

// BeginSearch notes where the user is before typing words.
func (p *Page) BeginSearch() {
	p.origin = origin{search: p.search, line: p.lineAt(p.cursor), top: p.top, moved: p.moved, follow: p.follow}
}

// Search looks for words, and goes to the first match at or after the place that
// BeginSearch noted, if there is one.
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

// CancelSearch returns to the place that BeginSearch noted.
func (p *Page) CancelSearch() {
	p.toOrigin()
	p.search = p.origin.search
	p.arrange(p.width)
	p.putOn(p.origin.line)
	p.top, p.moved, p.follow = p.origin.top, p.origin.moved, p.origin.follow
}

// toOrigin folds again what was unfolded for the previous words.
func (p *Page) toOrigin() {
	if l := p.origin.unfolded; l != nil {
		p.Flip(*l)
		p.origin.unfolded = nil
	}
}

// EndSearch ends what Search began. The cursor stays on its line.
func (p *Page) EndSearch() {
	line := p.lineAt(p.cursor)
	p.search = nil
	p.arrange(p.width)
	p.putOn(line)
}

// Words returns what is looked for.
func (p *Page) Words() Words { return p.search.Words() }

// NextMatch goes to the next match, or to the previous one. It reports whether there is
// one, and whether it wrapped around.
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

// Match returns the number of the match under the cursor, from 1, 0 if it is on none, and
// the number of matches.
func (p *Page) Match() (at, all int) {
	if p.search == nil || len(p.starts) == 0 {
		return 0, 0
	}
	return p.search.Position(p.starts[p.cursor])
}

// step goes to a match, and returns the line that it unfolded for that, nil if none.
func (p *Page) step(to Step) (unfolded *Line) {
	if len(p.starts) == 0 {
		return nil
	}
	m, _ := p.search.Go(to, p.starts[p.cursor])
	return p.reveal(m)
}

// reveal puts the cursor on a match. If the match is folded away, reveal unfolds its line
// and returns that.
func (p *Page) reveal(m Match) (unfolded *Line) {
	if m == nil {
		return nil
	}
	i := p.lineOf(m[0].Row)
	if m[0].Row > p.starts[i] && p.Flip != nil {
		l := p.shown[i]
		unfolded = &l
		p.Flip(l)
		p.arrange(p.width)
		if m = p.search.Current(); m == nil { // fewer lines match by now
			return unfolded
		}
		i = p.lineOf(m[0].Row)
	}
	p.Move(i - p.cursor)
	if i < p.top || i >= p.top+p.height {
		p.top = i - p.height/3 // with some lines around it
	}
	return unfolded
}

// lineOf returns the shown line of a searched row.
func (p *Page) lineOf(row int) int {
	i := len(p.starts) - 1
	for i > 0 && p.starts[i] > row {
		i--
	}
	return i
}

// update searches the shown lines, unless that was done.
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

// rows returns the rows of the shown lines that a search covers.
func (p *Page) rows() []TextRow {
	rows := make([]TextRow, 0, len(p.shown))
	p.starts = p.starts[:0]
	for i := range p.shown {
		l := &p.shown[i]
		p.starts = append(p.starts, len(rows))
		row := TextRow{Text: p.text(l), Join: joinOf(l)}
		if p.Narrows && !p.fits[i] {
			row.Text = ""
		}
		rows = append(rows, row)
		for k := range l.Folded {
			rows = append(rows, TextRow{Text: p.text(&l.Folded[k]), Join: joinOf(&l.Folded[k])})
		}
	}
	return rows
}

func joinOf(l *Line) Join {
	if l.Joined {
		return AtBlank
	}
	return Apart
}

// text returns the text that a line is found by.
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
	r := Row{Spans: p.spans(l)}
	if p.search == nil {
		r.Spans = append(r.Spans[:len(r.Spans):len(r.Spans)], l.Preview...)
		return r
	}
	length := len(termtext.SpansText(r.Spans, false))
	for _, m := range p.search.Marks(p.starts[i]) {
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
