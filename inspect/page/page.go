// Package page is a list of lines with a cursor, which whoever made it may change at
// any time: the cursor stays with its line, with a frame, or with the end. A Page says
// which lines are on the screen and draws none. It is for one goroutine.
package page

import (
	"slices"

	"github.com/acptap/acptap/record/termtext"
)

// A Line is a line of a page.
type Line struct {
	Spans   []termtext.Span // nil: they are made when they are drawn
	Seq     uint64          // the frame that it is about; 0: none
	Item    int             // what it belongs to, for who made it
	Key     string          // keeps the cursor on it where lines come in between; empty: it has none
	Heading bool            // it is the first line, and does not scroll
}

// A Page is lines of text with a cursor.
type Page struct {
	Lines func(width int) []Line
	State func() any                            // as long as it is the same, so are the lines; nil: they are made anew for each drawing
	Late  func(item, width int) []termtext.Span // the spans of a line that has none
	Enter func(Line)                            // what Enter does; nil: nothing
	Fold  func() (unfolded bool)                // folds everything or unfolds it; nil: nothing folds
	UpTo  func() uint64                         // the frames up to this one are in those lines; nil: there is no order by frames

	Unfolded bool // as fold has said
	made     made
	scroll
}

// What was made for the last drawing.
type made struct {
	lines []Line
	width int
	state any
}

// A scroll is where in the lines the user is.
type scroll struct {
	shown  []Line
	cursor int
	moved  bool   // the user has moved the cursor
	follow bool   // the cursor stays on the last line
	target uint64 // the frame that the cursor is to go to; 0: it stays
	top    int
	headed int // lines above the first that scrolls
	height int
}

// make returns the lines: a conversation has very many, and most keys change none.
func (p *Page) make(width int) []Line {
	if p.State == nil {
		return p.Lines(width)
	}
	// What comes between the two is in the lines, and they are made once more.
	if state := p.State(); p.made.lines == nil || p.made.width != width || p.made.state != state {
		p.made = made{p.Lines(width), width, state}
	}
	return p.made.lines
}

// A Window is the part of a page that is on the screen.
type Window struct {
	Heading []termtext.Span // nil: there is none
	Rows    [][]termtext.Span
	Cursor  int // index in rows
}

// Window makes the lines, and moves what is on the screen so that the cursor is.
func (p *Page) Window(width, height int) Window {
	var w Window
	key := p.Current().Key
	p.shown = p.make(width)
	if p.headed = 0; len(p.shown) > 1 && p.shown[0].Heading && height > 1 {
		p.headed = 1
		w.Heading = p.shown[0].Spans
		p.shown, height = p.shown[1:], height-1
	}
	p.height = height
	if i := slices.IndexFunc(p.shown, func(l Line) bool { return l.Key == key }); key != "" && i >= 0 {
		p.cursor = i
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
	for _, l := range p.shown[p.top:min(p.top+max(height, 0), len(p.shown))] {
		if l.Spans == nil && p.Late != nil {
			l.Spans = p.Late(l.Item, width)
		}
		w.Rows = append(w.Rows, l.Spans)
	}
	w.Cursor = p.cursor - p.top
	return w
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
	p.moved, p.follow, p.target = true, false, 0
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
func (p *Page) ToLast() { p.follow, p.target, p.cursor = p.UpTo != nil, 0, max(len(p.shown)-1, 0) }

// GoTo puts the cursor on the line about a frame, when there is one.
func (p *Page) GoTo(seq uint64) { p.target, p.follow = seq, false }

// Await puts the cursor on the line about a frame when there is one, and lets it follow
// the last line if it does.
func (p *Page) Await(seq uint64) { p.target = seq }

// TakeMove returns the frame that the user has moved the cursor to since the last
// call, 0 if there is none.
func (p *Page) TakeMove() uint64 {
	if !p.moved || p.cursor >= len(p.shown) {
		return 0
	}
	p.moved = false
	return p.shown[p.cursor].Seq
}

// FoldAll folds everything, or unfolds it. The cursor stays on its line.
func (p *Page) FoldAll() {
	p.GoTo(p.Current().Seq)
	p.Unfolded = p.Fold()
}
