package screen

import (
	"slices"
	"unicode"

	"github.com/gdamore/tcell/v2"
	"github.com/mattn/go-runewidth"
	"github.com/rivo/uniseg"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// A canvas is a part of the screen. Drawing is clipped to it.
type canvas struct {
	screen     tcell.Screen
	looks      looks
	x, y, w, h int
}

// part returns a part of the canvas.
func (c canvas) part(x, y, w, h int) canvas {
	x, y = min(max(x, 0), c.w), min(max(y, 0), c.h)
	c.w, c.h = max(min(w, c.w-x), 0), max(min(h, c.h-y), 0)
	c.x, c.y = c.x+x, c.y+y
	return c
}

// text draws text and returns the column after it.
func (c canvas) text(x, y int, s termtext.Style, text string) int {
	return c.line(x, y, []termtext.Span{s.Span(text)})
}

// line draws spans and returns the column after them. If they do not fit, they end in an
// ellipsis.
func (c canvas) line(x, y int, spans []termtext.Span) int {
	if y < 0 || y >= c.h || x >= c.w {
		return x
	}
	if x+termtext.SpansWidth(spans) <= c.w {
		for _, s := range spans {
			x, _ = c.clusters(x, y, s)
		}
		return x
	}
	full := false
	room := c.part(0, 0, c.w-1, c.h) // leaves room for the ellipsis
	for _, s := range spans {
		if x, full = room.clusters(x, y, s); full {
			c.screen.SetContent(c.x+x, c.y+y, '…', nil, c.looks[s.Style])
			c.fill(x+1, y, s.Style) // a wide character may not have fitted
			return c.w
		}
	}
	return x
}

// clusters draws the grapheme clusters that fit.
func (c canvas) clusters(x, y int, s termtext.Span) (behind int, full bool) {
	look := c.looks[s.Style]
	state := -1
	for text := s.Text; len(text) > 0; {
		var cluster string
		var w int
		cluster, text, w, state = uniseg.FirstGraphemeClusterInString(text, state)
		if x+w > c.w {
			return x, true
		}
		if x >= 0 {
			c.put(x, y, cluster, w, look)
		}
		x += w
	}
	return x, false
}

// put draws a character in the columns that uniseg gives it. Terminals disagree on the
// width of flags, of joined or modified emoji, and of spacing marks. So each rune with a
// width gets cells of its own, as far as there are any, and joiners are left out.
func (c canvas) put(x, y int, cluster string, columns int, look tcell.Style) {
	end := x + columns
	var cell []rune
	flush := func(next int) {
		if cell != nil {
			c.screen.SetContent(c.x+x, c.y+y, cell[0], cell[1:], look)
		}
		x, cell = next, nil
	}
	used := x
	for _, r := range cluster {
		switch w := runewidth.RuneWidth(r); { // tcell uses these widths
		case joins(r):
		case unicode.In(r, unicode.Mn, unicode.Me, joiningJamo):
			if cell != nil && len(cell) < maxMarks {
				cell = append(cell, r)
			}
		case w > 0 && used+w <= end:
			flush(used)
			cell = []rune{r}
			used += w
		}
	}
	flush(used)
	for ; x < end; x++ {
		c.screen.SetContent(c.x+x, c.y+y, ' ', nil, look)
	}
}

// joins reports whether a character is invisible and only changes others.
func joins(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Variation_Selector) }

// unjoin removes from a line drawn by tview what put leaves out.
func (c canvas) unjoin(y int) {
	for x := range c.w {
		first, rest, look, _ := c.screen.GetContent(c.x+x, c.y+y)
		if slices.ContainsFunc(rest, joins) {
			c.screen.SetContent(c.x+x, c.y+y, first, slices.DeleteFunc(slices.Clone(rest), joins), look)
		}
	}
}

// maxMarks limits the combining runes in a cell. Without a limit they would be drawn over
// the lines above and below.
const maxMarks = 5

// joiningJamo are the vowels and final consonants of a Hangul syllable. They share the
// columns of its first consonant.
var joiningJamo = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x1160, Hi: 0x11ff, Stride: 1}}}

// spans draws a line. A selected one fills the width.
func (c canvas) spans(y int, line []termtext.Span, selected bool) {
	if !selected {
		c.line(0, y, line)
		return
	}
	line = slices.Clone(line)
	for i := range line {
		line[i].Style = termtext.Reverse
	}
	c.fill(c.line(0, y, line), y, termtext.Reverse)
}

// page draws the visible part of a page, with a margin of one column.
func (c canvas) page(p *page.Page) {
	c = c.part(1, 0, c.w, c.h)
	w := p.Window(c.w, c.h)
	if w.Heading != nil {
		c.spans(0, w.Heading, false)
		c = c.part(0, 1, c.w, c.h)
	}
	for y, row := range w.Rows {
		c.spans(y, row.Spans, y == w.Cursor)
		c.marks(y, row.Spans, row.Marks)
	}
}

// marks highlights the matches in a line that has been drawn: they are reversed or, on a
// reversed line, not. The current match stands out from the others.
func (c canvas) marks(y int, line []termtext.Span, marks []page.Mark) {
	c.restyle(y, line, marks, func(m page.Mark, look tcell.Style) tcell.Style {
		if m.Current {
			return c.looks[currentMatch]
		}
		_, _, is := look.Decompose()
		return look.Reverse(is&tcell.AttrReverse == 0).Dim(false)
	})
}

// underline underlines parts of a line that has been drawn.
func (c canvas) underline(y int, line []termtext.Span, marks []page.Mark) {
	c.restyle(y, line, marks, func(_ page.Mark, look tcell.Style) tcell.Style { return look.Underline(true) })
}

// restyle redraws parts of a drawn line in another style.
func (c canvas) restyle(y int, line []termtext.Span, marks []page.Mark, style func(page.Mark, tcell.Style) tcell.Style) {
	if len(marks) == 0 {
		return
	}
	text, x, behind := termtext.SpansText(line, false), 0, 0
	for _, m := range marks {
		x += termtext.Width(text[behind:m.From])
		from := x
		x += termtext.Width(text[m.From:m.To])
		behind = m.To
		for at := from; at < min(x, c.w); at++ {
			first, rest, look, _ := c.screen.GetContent(c.x+at, c.y+y)
			c.screen.SetContent(c.x+at, c.y+y, first, rest, style(m, look))
		}
	}
}

// fill draws blanks up to the end of the line.
func (c canvas) fill(x, y int, s termtext.Style) {
	if y < 0 || y >= c.h {
		return
	}
	for ; x < c.w; x++ {
		c.screen.SetContent(c.x+x, c.y+y, ' ', nil, c.looks[s])
	}
}

// across draws a horizontal line with a title in it.
func (c canvas) across(y int, s termtext.Style, title string) {
	if y < 0 || y >= c.h {
		return
	}
	for x := range c.w {
		c.screen.SetContent(c.x+x, c.y+y, '─', nil, c.looks[termtext.Dim])
	}
	if title != "" {
		c.text(1, y, s, " "+termtext.Cut(title, max(c.w-4, 1))+" ")
	}
}
