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

// A canvas is a rectangle of the screen. Drawing is clipped to it.
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
	for _, s := range termtext.CutSpans(spans, c.w-x) {
		x = c.clusters(x, y, s)
	}
	return x
}

// clusters draws a span that fits, and returns the column after it.
func (c canvas) clusters(x, y int, s termtext.Span) (behind int) {
	look := c.looks[s.Style]
	state := -1
	for text := s.Text; len(text) > 0; {
		var cluster string
		var w int
		cluster, text, w, state = uniseg.FirstGraphemeClusterInString(text, state)
		if x >= 0 {
			c.put(x, y, cluster, w, look)
		}
		x += w
	}
	return x
}

// put draws a character in the columns that uniseg gives it. Terminals disagree on the
// width of flags, of joined or modified emoji, and of spacing marks. So each rune with a
// width gets separate cells, as long as there are any, and joiners are omitted.
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

// joins reports whether a character is invisible and only modifies others.
func joins(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Variation_Selector) }

// unjoin removes the characters that put omits from a line drawn by tview.
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
// columns of its initial consonant.
var joiningJamo = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x1160, Hi: 0x11ff, Stride: 1}}}

// spans draws a line. A selected line has another background over its whole width. If it is
// not known what contrasts with the terminal's background, the line is drawn in reverse
// without colours.
func (c canvas) spans(y int, line []termtext.Span, selected bool) {
	tint := c.looks[selection]
	if _, _, is := tint.Decompose(); selected && is&tcell.AttrReverse != 0 {
		line = slices.Clone(line)
		for i := range line {
			line[i].Style = termtext.Reverse
		}
		c.fill(c.line(0, y, line), y, termtext.Reverse)
		return
	}
	c.line(0, y, line)
	if selected && 0 <= y && y < c.h {
		_, background, _ := tint.Decompose()
		c.restyleCells(0, c.w, y, func(look tcell.Style) tcell.Style { return look.Background(background) })
	}
}

// restyleCells redraws the cells of a line from one column to before another.
func (c canvas) restyleCells(from, to, y int, style func(tcell.Style) tcell.Style) {
	for x := from; x < min(to, c.w); x++ {
		first, rest, look, _ := c.screen.GetContent(c.x+x, c.y+y)
		c.screen.SetContent(c.x+x, c.y+y, first, rest, style(look))
	}
}

// page draws the visible part of a page with a margin of one column, and its cursor if
// the page has the focus. It returns the rows.
func (c canvas) page(p *page.Page, keys bool) []page.Row {
	c = c.part(1, 0, c.w, c.h)
	w := p.Window(c.w, c.h)
	c = c.headings(w.Heading)
	for y, row := range w.Rows {
		c.spans(y, row.Spans, keys && y == w.Cursor)
		c.marks(y, row.Spans, row.Marks)
	}
	return w.Rows
}

// headings draws the lines above a list, and returns the rest of the canvas.
func (c canvas) headings(lines [][]termtext.Span) (rest canvas) {
	for y, line := range lines {
		c.line(0, y, line)
	}
	return c.part(0, len(lines), c.w, c.h)
}

// marks highlights the matches in a line already drawn: they are reversed or, on a
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

// underline underlines parts of a line already drawn.
func (c canvas) underline(y int, line []termtext.Span, marks []page.Mark) {
	c.restyle(y, line, marks, func(_ page.Mark, look tcell.Style) tcell.Style { return look.Underline(true) })
}

// restyle redraws parts of a line already drawn in another style.
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
		c.restyleCells(from, x, y, func(look tcell.Style) tcell.Style { return style(m, look) })
	}
}

// fill draws blanks to the end of the line.
func (c canvas) fill(x, y int, s termtext.Style) {
	if y < 0 || y >= c.h {
		return
	}
	for ; x < c.w; x++ {
		c.screen.SetContent(c.x+x, c.y+y, ' ', nil, c.looks[s])
	}
}

// across draws a horizontal rule with a title in it.
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
