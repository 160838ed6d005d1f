package page

import (
	"strings"

	"github.com/acptap/acptap/inspect/screen/find"
	"github.com/acptap/acptap/record/termtext"
)

// A finding is what is looked for in the lines, and where it was found.
type finding struct {
	search *find.Search // nil: nothing is looked for
	of     searched
	starts []int // the row that is searched first of each line that is shown
	origin origin
}

// The searched says what a search has been through.
type searched struct {
	search *find.Search
	times  int // that lines had been made
}

// An origin is where the user was before words were typed.
type origin struct {
	search   *find.Search
	line     int // among all lines
	top      int
	moved    bool
	follow   bool
	unfolded *Line // for the words that have been typed by now
}

// BeginSearch notes where the user is: words are typed from now on.
func (p *Page) BeginSearch() {
	p.origin = origin{search: p.search, line: p.lineAt(p.cursor), top: p.top, moved: p.moved, follow: p.follow}
}

// Search looks for words, and goes to the first match at or behind the place where the
// user was at BeginSearch, if there is one.
func (p *Page) Search(w find.Words) {
	p.toOrigin()
	if p.search = nil; !w.IsZero() {
		p.search = find.NewSearch(w)
	}
	p.arrange(p.width)
	p.putOn(p.origin.line)
	if p.search != nil {
		p.origin.unfolded = p.step(find.Here)
	}
}

// CancelSearch goes back to where the user was at BeginSearch.
func (p *Page) CancelSearch() {
	p.toOrigin()
	p.search = p.origin.search
	p.arrange(p.width)
	p.putOn(p.origin.line)
	p.top, p.moved, p.follow = p.origin.top, p.origin.moved, p.origin.follow
}

// toOrigin folds again what was unfolded for the words before.
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
func (p *Page) Words() find.Words { return p.search.Words() }

// NextMatch goes to the next match, or to the one before. It reports whether there is
// any, and whether it went round an end for it.
func (p *Page) NextMatch(forward bool) (found, round bool) {
	if p.search == nil || len(p.starts) == 0 {
		return false, false
	}
	to := find.Next
	if !forward {
		to = find.Previous
	}
	m, round := p.search.Go(to, p.starts[p.cursor])
	p.reveal(m)
	return m != nil, round
}

// Match returns which match the cursor is on, from 1, 0 if it is on none, and how many
// there are.
func (p *Page) Match() (at, all int) {
	if p.search == nil || len(p.starts) == 0 {
		return 0, 0
	}
	return p.search.Position(p.starts[p.cursor])
}

// step goes to a match, and returns the line that was unfolded for it, nil if none was.
func (p *Page) step(to find.Step) (unfolded *Line) {
	if len(p.starts) == 0 {
		return nil
	}
	m, _ := p.search.Go(to, p.starts[p.cursor])
	return p.reveal(m)
}

// reveal puts the cursor on a match, and unfolds the line that it is in, if it is
// folded: that line is returned.
func (p *Page) reveal(m find.Match) (unfolded *Line) {
	if m == nil {
		return nil
	}
	i := p.lineOf(m[0].Row)
	if m[0].Row > p.starts[i] && p.Flip != nil {
		l := p.shown[i]
		unfolded = &l
		p.Flip(l)
		p.arrange(p.width)
		if m = p.search.Current(); m == nil { // there is less of it meanwhile
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

// lineOf returns the line that is shown with a row that was searched.
func (p *Page) lineOf(row int) int {
	i := len(p.starts) - 1
	for i > 0 && p.starts[i] > row {
		i--
	}
	return i
}

// update searches the lines that are shown, unless that was done.
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

// rows returns what of the lines that are shown is searched.
func (p *Page) rows() []find.Row {
	rows := make([]find.Row, 0, len(p.shown))
	p.starts = p.starts[:0]
	for i := range p.shown {
		l := &p.shown[i]
		p.starts = append(p.starts, len(rows))
		row := find.Row{Text: p.text(l), Join: joinOf(l)}
		if p.Narrows && !p.fits[i] {
			row.Text = ""
		}
		rows = append(rows, row)
		for k := range l.Folded {
			rows = append(rows, find.Row{Text: p.text(&l.Folded[k]), Join: joinOf(&l.Folded[k])})
		}
	}
	return rows
}

func joinOf(l *Line) find.Join {
	if l.Joined {
		return find.AtBlank
	}
	return find.Apart
}

// text returns what a line is found by.
func (p *Page) text(l *Line) string {
	text := textOf(p.spans(l))
	if l.Also != "" {
		text += "\n" + l.Also
	}
	return text
}

func textOf(spans []termtext.Span) string {
	if len(spans) == 1 {
		return spans[0].Text
	}
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// row returns a line for the screen.
func (p *Page) row(i int) Row {
	l := &p.shown[i]
	r := Row{Spans: p.spans(l)}
	if p.search == nil {
		r.Spans = append(r.Spans[:len(r.Spans):len(r.Spans)], l.Preview...)
		return r
	}
	length := len(textOf(r.Spans))
	for _, m := range p.search.Marks(p.starts[i]) {
		if m.From < length {
			r.Marks = append(r.Marks, m)
		}
	}
	for _, m := range p.search.Words().Marks(textOf(l.Preview)) {
		r.Marks = append(r.Marks, find.Mark{From: length + m.From, To: length + m.To})
	}
	r.Spans = append(r.Spans[:len(r.Spans):len(r.Spans)], l.Preview...)
	return r
}
