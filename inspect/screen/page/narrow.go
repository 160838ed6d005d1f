package page

import (
	"slices"

	"github.com/acptap/acptap/record/termtext"
)

// show shows all lines or, where a search narrows them, those that match, along with
// their ancestors and descendants.
func (p *Page) show(lines []Line) {
	p.shown, p.index = lines, nil
	if p.search == nil || !p.Narrows {
		p.update()
		return
	}
	p.shown, p.fits = nil, nil
	for i, k := range p.kept(lines) {
		if k.shown {
			p.shown, p.index, p.fits = append(p.shown, lines[i]), append(p.index, i), append(p.fits, k.fits)
		}
	}
	if p.shown == nil {
		text := termtext.Dim.Span("No line has these words. Esc shows all.")
		p.shown, p.index, p.fits = []Line{{Spans: []termtext.Span{text}, Item: -1}}, []int{0}, []bool{false}
	}
	p.update()
}

// A kept line matches the search, or is shown only as an ancestor or descendant of lines
// that match.
type kept struct{ shown, fits bool }

func (p *Page) kept(lines []Line) []kept {
	keep, words := make([]kept, len(lines)), p.search.Words()
	var above []int // the current line's ancestors
	for i := range lines {
		for n := len(above); n > 0 && lines[above[n-1]].Level >= lines[i].Level; n-- {
			above = above[:n-1]
		}
		own := p.text(&lines[i])
		text := own
		for _, k := range above {
			text += "\n" + p.text(&lines[k])
		}
		if words.Fit(text) {
			keep[i] = kept{true, len(words.In(own)) > 0}
			for _, k := range above {
				keep[k].shown = true
			}
		}
		above = append(above, i)
	}
	return keep
}

// lineAt returns a shown line's index among all lines.
func (p *Page) lineAt(i int) int {
	if i < len(p.index) {
		return p.index[i]
	}
	return i
}

// putOn puts the cursor on a line, or on the next shown one.
func (p *Page) putOn(line int) {
	i := line
	if p.index != nil {
		i, _ = slices.BinarySearch(p.index, line)
	}
	p.cursor = max(min(i, len(p.shown)-1), 0)
}
