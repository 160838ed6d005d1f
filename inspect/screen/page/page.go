// Package page is a list of lines with a cursor, which whoever made it may change at
// any time: the cursor stays with its line, with a frame, or with the end. Words are
// found in the lines, also in those that are folded away. A Page says which lines are
// on the screen and draws none. It is for one goroutine.
package page

import (
	"slices"

	"github.com/acptap/acptap/inspect/screen/find"
	"github.com/acptap/acptap/record/termtext"
)

// A Line is a line of a page.
type Line struct {
	Spans   []termtext.Span // nil: they are made when they are drawn
	Seq     uint64          // the frame that it is about; 0: none
	Tape    string          // of another tape that it is about too; empty: none
	TapeSeq uint64          // the frame of that
	Item    int             // what it belongs to, for who made it
	Key     string          // keeps the cursor on it where lines come in between; empty: it has none
	Heading bool            // it is the first line, and does not scroll
	Joined  bool            // its text goes on from the line before

	Folded  []Line          // what is folded away below it
	Preview []termtext.Span // what of that is shown behind it

	Level int    // the lines below it of a higher level belong to it
	Also  string // text that it is found by too
}

// A Page is lines of text with a cursor.
type Page struct {
	Lines func(width int) []Line
	State func() any                            // as long as it is the same, so are the lines; nil: they are made anew for each drawing
	Late  func(item, width int) []termtext.Span // the spans of a line that has none
	Enter func(Line)                            // what Enter does; nil: nothing
	Flip  func(Line)                            // folds what a line belongs to, or unfolds it; nil: nothing folds
	Fold  func() (unfolded bool)                // folds everything or unfolds it; nil: nothing folds
	Block func(Line) string                     // the text that a line belongs to, empty if that is what is shown; nil: it is
	UpTo  func() uint64                         // the frames up to this one are in those lines; nil: there is no order by frames

	Narrows bool // words that are looked for leave the lines that have them

	Unfolded bool // as fold has said
	made     made
	scroll
	finding
}

// What was made for the last drawing.
type made struct {
	lines []Line
	width int
	state any
	times int // that lines were made
}

// A scroll is where in the lines the user is.
type scroll struct {
	shown  []Line
	index  []int  // of each of them among all lines, where words leave some; else nil
	fits   []bool // the same: it has the words itself
	cursor int
	moved  bool   // the user has moved the cursor
	follow bool   // the cursor stays on the last line
	target uint64 // the frame that the cursor is to go to; 0: it stays
	wanted string // the key of the line that it is to go to when there is one; empty: it stays
	top    int
	headed int // lines above the first that scrolls
	width  int
	height int
}

// make returns the lines: a conversation has very many, and most keys change none.
func (p *Page) make(width int) []Line {
	var state any
	if p.State != nil {
		// What comes between the two is in the lines, and they are made once more.
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
	Marks []find.Mark // in their text
}

// Window makes the lines, and moves what is on the screen so that the cursor is.
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

// arrange makes the lines that are shown, and finds in them what is looked for. It
// returns the heading, nil if there is none.
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

// near returns the line about a frame, or else about the last one before it.
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

// Position returns how many lines are before the cursor, and how many there are.
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

// Point puts the cursor on a row of the window, the heading counted.
func (p *Page) Point(y int) {
	if row := y - p.headed; row >= 0 {
		p.Move(p.top + row - p.cursor)
	}
}

// End moves the cursor to the last line, where it stays.
func (p *Page) End() {
	p.ToLast()
	p.moved = true
}

// ToLast puts the cursor on the last line, where it stays. The user has not moved it.
func (p *Page) ToLast() {
	p.follow, p.target, p.wanted = p.UpTo != nil, 0, ""
	p.cursor = max(len(p.shown)-1, 0)
}

// GoTo puts the cursor on the line about a frame, when there is one.
func (p *Page) GoTo(seq uint64) { p.target, p.follow = seq, false }

// LineOf returns the frame of the line that GoTo goes to, 0 for none.
func (p *Page) LineOf(seq uint64) uint64 {
	if len(p.shown) == 0 {
		return 0
	}
	return p.shown[p.near(seq)].Seq
}

// ShowFrame is GoTo as if the user had moved there.
func (p *Page) ShowFrame(seq uint64) {
	p.GoTo(seq)
	p.moved = true
}

// Await puts the cursor on the line about a frame when there is one, and lets it follow
// the last line if it does.
func (p *Page) Await(seq uint64) { p.target = seq }

// Find puts the cursor on the line with a key when there is one, unless the user moves
// the cursor before. No key: it stays.
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

// FlipHere folds what the line under the cursor belongs to, or unfolds it.
func (p *Page) FlipHere() {
	l := p.Current()
	p.Flip(l)
	p.GoTo(l.Seq)
}

// FoldHere is FlipHere unless it is folded, or unfolded, already.
func (p *Page) FoldHere(fold bool) {
	if folded := p.Current().Folded != nil; folded != fold {
		p.FlipHere()
	}
}

// FoldAll folds everything, or unfolds it. The cursor stays on its line.
func (p *Page) FoldAll() {
	p.GoTo(p.Current().Seq)
	p.Unfolded = p.Fold()
}
