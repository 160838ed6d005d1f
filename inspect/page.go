package inspect

import (
	"slices"

	"github.com/acptap/acptap/record/termtext"
)

// A line is a line of a place that is text.
type line struct {
	spans []termtext.Span // nil: they are made when they are drawn
	seq   uint64          // the frame that it is about; 0: none
	item  int             // what it belongs to, for who made it
	key   string          // keeps the cursor on it where lines come in between; empty: it has none
	stays bool            // it is the first, a heading, and does not scroll
}

// A page is a place that is lines of text.
type page struct {
	lines func(width int) []line
	state func() any                            // as long as it is the same, so are the lines; nil: they are made anew for each drawing
	late  func(item, width int) []termtext.Span // the spans of a line that has none
	enter func(line)                            // what Enter does; nil: nothing
	fold  func() (unfolded bool)                // what z does; nil: nothing
	told  func() uint64                         // the frames up to this one are in those lines; nil: there is no order by frames

	unfolded bool // as fold has said
	made     made
	scroll
}

// What was made for the last drawing.
type made struct {
	lines []line
	width int
	state any
}

// make returns the lines: a conversation has very many, and most keys change none.
func (p *page) make(width int) []line {
	if p.state == nil {
		return p.lines(width)
	}
	// What comes between the two is in the lines, and they are made once more.
	if state := p.state(); p.made.lines == nil || p.made.width != width || p.made.state != state {
		p.made = made{p.lines(width), width, state}
	}
	return p.made.lines
}

// A scroll is where in the lines the user is.
type scroll struct {
	shown  []line
	cursor int
	moved  bool   // the user has moved the cursor
	follow bool   // the cursor stays on the last line
	wish   uint64 // the frame that the cursor is to go to; 0: it stays
	top    int
	head   int // lines above the first that scrolls
	height int
}

func (p *page) draw(c canvas) {
	key := p.current().key
	p.shown = p.make(c.w - 1)
	c = c.part(1, 0, c.w, c.h)
	if p.head = 0; len(p.shown) > 1 && p.shown[0].stays && c.h > 1 {
		p.head = 1
		c.spans(0, p.shown[0].spans, false)
		p.shown, c = p.shown[1:], c.part(0, 1, c.w, c.h)
	}
	p.height = c.h
	if i := slices.IndexFunc(p.shown, func(l line) bool { return l.key == key }); key != "" && i >= 0 {
		p.cursor = i
	}
	if p.follow {
		p.cursor = len(p.shown) - 1
	}
	if p.wish != 0 && p.told != nil && p.told() >= p.wish {
		p.cursor = p.near(p.wish)
		p.wish = 0
	}
	p.cursor = max(min(p.cursor, len(p.shown)-1), 0)
	if p.cursor < p.top {
		p.top = p.cursor
	}
	if p.cursor >= p.top+c.h {
		p.top = p.cursor - c.h + 1
	}
	p.top = max(min(p.top, len(p.shown)-c.h), 0)
	for y, l := range p.shown[p.top:min(p.top+max(c.h, 0), len(p.shown))] {
		if l.spans == nil && p.late != nil {
			l.spans = p.late(l.item, c.w)
		}
		c.spans(y, l.spans, p.top+y == p.cursor)
	}
}

// near returns the line about a frame, or else about the last one before it.
func (p *page) near(seq uint64) int {
	best := 0
	for i, l := range p.shown {
		if l.seq != 0 && l.seq <= seq && l.seq > p.shown[best].seq {
			best = i
		}
	}
	return best
}

// current returns the line under the cursor.
func (p *page) current() line {
	if p.cursor >= len(p.shown) {
		return line{item: -1}
	}
	return p.shown[p.cursor]
}

func (p *page) move(n int) {
	p.moved, p.follow, p.wish = true, false, 0
	p.cursor = max(min(p.cursor+n, len(p.shown)-1), 0)
}

// toLast goes to the last line, and stays with it.
func (p *page) toLast() { p.follow, p.wish, p.cursor = p.told != nil, 0, max(len(p.shown)-1, 0) }
