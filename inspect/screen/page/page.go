// Package page is a list of lines with a cursor. Its owner may change the lines at any
// time: the cursor stays with its line, with a frame, or at the end. Words are found in the
// lines, including those folded away. A Page says which lines are on the screen and draws
// none. It is not safe for concurrent use.
package page

import (
	"slices"

	"github.com/acptap/acptap/record/termtext"
)

// A Line is a line of a page.
type Line struct {
	Spans   []termtext.Span // nil: made when drawn
	Seq     uint64          // the frame that it is about; 0: none
	Tape    string          // another tape that it is about too; empty: none
	TapeSeq uint64          // the frame of Tape
	Item    int             // what it belongs to, for the owner of the page
	Key     string          // keeps the cursor on the line when others are inserted; empty: none
	Heading bool            // the first line, which does not scroll
	Joined  bool            // its text continues that of the line before

	Folded  []Line          // lines folded away below it
	Preview []termtext.Span // the part of Folded that follows on its line

	Level int    // lines of a higher level below it belong to it
	Also  string // further text to find it by
}

// A Page is lines of text with a cursor.
type Page struct {
	Lines func(width int) []Line
	State func() any                            // the lines stay the same while it does; nil: they are rebuilt for each drawing
	Late  func(item, width int) []termtext.Span // returns the spans of a line without any
	Enter func(Line)                            // what Enter does; nil: nothing
	Flip  func(Line)                            // folds or unfolds what a line belongs to; nil: nothing folds
	Fold  func() (unfolded bool)                // folds or unfolds everything; nil: nothing folds
	Block func(Line) string                     // returns the text that a line belongs to, empty if that is what is shown; nil: always
	UpTo  func() uint64                         // the lines cover frames up to this one; nil: the page is not ordered by frames

	Narrows bool // a search shows only the lines that match

	Unfolded bool // the last result of Fold
	made     made
	scroll
	finding
}

// made is what was built for the last drawing.
type made struct {
	lines []Line
	width int
	state any
	times int // number of times that lines were built
}

// A scroll is the user's place in the lines.
type scroll struct {
	shown  []Line
	index  []int  // index of each shown line among all, if the search narrows them; otherwise nil
	fits   []bool // by shown line: it matches the search itself
	cursor int
	moved  bool   // the user has moved the cursor
	follow bool   // the cursor stays on the last line
	target uint64 // the frame that the cursor goes to; 0: none
	wanted string // the key of the line that the cursor goes to once it exists; empty: none
	top    int
	headed int // lines above the first one that scrolls
	width  int
	height int
}

// make returns the lines. It rebuilds them only if State has changed: a conversation has
// very many, and most keys change none.
func (p *Page) make(width int) []Line {
	var state any
	if p.State != nil {
		// Anything that arrives while the lines are built makes the next call rebuild them.
		state = p.State()
	}
	if p.State == nil || p.made.lines == nil || p.made.width != width || p.made.state != state {
		p.made = made{p.Lines(width), width, state, p.made.times + 1}
	}
	return p.made.lines
}

// A Window is the part of a page that is on the screen.
type Window struct {
	Heading []termtext.Span // nil: there is none
	Rows    []Row
	Cursor  int // index in rows
}

// A Row is a line on the screen.
type Row struct {
	Spans []termtext.Span
	Marks []Mark // in their text
}

// Window builds the lines and scrolls so that the cursor is on the screen.
func (p *Page) Window(width, height int) Window {
	before := p.anchor()
	var w Window
	heading := p.arrange(width)
	if p.headed = 0; heading != nil && height > 1 {
		p.headed = 1
		w.Heading, height = heading, height-1
	}
	p.height = height
	if p.toKey(p.wanted) {
		p.wanted = ""
	} else {
		p.stayOn(before)
	}
	if p.follow {
		p.cursor = len(p.shown) - 1
	}
	if p.target != 0 && p.UpTo != nil && p.UpTo() >= p.target {
		p.cursor = p.near(p.target)
		p.target = 0
	}
	p.cursor = max(min(p.cursor, len(p.shown)-1), 0)
	if p.cursor < p.top {
		p.top = p.cursor
	}
	if p.cursor >= p.top+height {
		p.top = p.cursor - height + 1
	}
	p.top = max(min(p.top, len(p.shown)-height), 0)
	for i := p.top; i < min(p.top+max(height, 0), len(p.shown)); i++ {
		w.Rows = append(w.Rows, p.row(i))
	}
	w.Cursor = p.cursor - p.top
	return w
}

// arrange builds the lines to show and searches them. It returns the heading, nil if there
// is none.
func (p *Page) arrange(width int) (heading []termtext.Span) {
	p.width = width
	lines := p.make(width)
	if len(lines) > 1 && lines[0].Heading {
		heading, lines = lines[0].Spans, lines[1:]
	}
	p.show(lines)
	return heading
}

// spans returns the spans of a line.
func (p *Page) spans(l *Line) []termtext.Span {
	if l.Spans == nil && p.Late != nil {
		return p.Late(l.Item, p.width)
	}
	return l.Spans
}

// toKey puts the cursor on the line with a key. It reports whether there is one.
func (p *Page) toKey(key string) bool {
	if key == "" {
		return false
	}
	i := slices.IndexFunc(p.shown, func(l Line) bool { return l.Key == key })
	if i >= 0 {
		p.cursor = i
	}
	return i >= 0
}

// near returns the line about a frame, or about the last frame before it.
func (p *Page) near(seq uint64) int {
	best := 0
	for i, l := range p.shown {
		if l.Seq != 0 && l.Seq <= seq && l.Seq > p.shown[best].Seq {
			best = i
		}
	}
	return best
}

// Current returns the line under the cursor.
func (p *Page) Current() Line {
	if p.cursor >= len(p.shown) {
		return Line{Item: -1}
	}
	return p.shown[p.cursor]
}

// Position returns the number of lines before the cursor, and of all lines.
func (p *Page) Position() (before, all int) { return p.cursor, len(p.shown) }

// Move moves the cursor n lines down.
func (p *Page) Move(n int) {
	p.moved, p.follow, p.target, p.wanted = true, false, 0, ""
	p.cursor = max(min(p.cursor+n, len(p.shown)-1), 0)
}

// Turn moves the window and the cursor some pages down.
func (p *Page) Turn(pages int) {
	n := pages * max(p.height-1, 1)
	p.top += n
	p.Move(n)
}

// Point puts the cursor on a row of the window, counting the heading.
func (p *Page) Point(y int) {
	if row := y - p.headed; row >= 0 {
		p.Move(p.top + row - p.cursor)
	}
}

// End moves the cursor to the last line and keeps it there.
func (p *Page) End() {
	p.ToLast()
	p.moved = true
}

// ToLast is End without counting as a move of the user.
func (p *Page) ToLast() {
	p.follow, p.target, p.wanted = p.UpTo != nil, 0, ""
	p.cursor = max(len(p.shown)-1, 0)
}

// GoTo puts the cursor on the line about a frame as soon as there is one.
func (p *Page) GoTo(seq uint64) { p.target, p.follow = seq, false }

// LineOf returns the frame of the line that GoTo goes to, 0 for none.
func (p *Page) LineOf(seq uint64) uint64 {
	if len(p.shown) == 0 {
		return 0
	}
	return p.shown[p.near(seq)].Seq
}

// ShowFrame is GoTo, counted as a move of the user.
func (p *Page) ShowFrame(seq uint64) {
	p.GoTo(seq)
	p.moved = true
}

// Await puts the cursor on the line about a frame as soon as there is one; until then it
// may follow the last line.
func (p *Page) Await(seq uint64) { p.target = seq }

// Find puts the cursor on the line with a key as soon as there is one, unless the user
// moves the cursor first. An empty key cancels that.
func (p *Page) Find(key string) { p.wanted, p.follow = key, false }

// TakeMove returns the frame that the user has moved the cursor to since the last
// call, 0 if there is none.
func (p *Page) TakeMove() uint64 {
	if !p.moved || p.cursor >= len(p.shown) {
		return 0
	}
	p.moved = false
	return p.shown[p.cursor].Seq
}

// FlipHere folds or unfolds what the line under the cursor belongs to.
func (p *Page) FlipHere() {
	l := p.Current()
	p.Flip(l)
	p.GoTo(l.Seq)
}

// FoldHere folds or unfolds it unless that is its state already.
func (p *Page) FoldHere(fold bool) {
	if folded := p.Current().Folded != nil; folded != fold {
		p.FlipHere()
	}
}

// FoldAll folds or unfolds everything. The cursor stays on its line.
func (p *Page) FoldAll() {
	p.GoTo(p.Current().Seq)
	p.Unfolded = p.Fold()
}
