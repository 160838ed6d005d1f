package page

import (
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// LineText returns the line under the cursor as text.
func (p *Page) LineText() string {
	if p.cursor >= len(p.shown) {
		return ""
	}
	return strings.TrimSpace(termtext.SpansText(p.spans(&p.shown[p.cursor]), false))
}

// BlockText returns the text of the block under the cursor: what Block returns, or the
// lines around the cursor between blank ones; in a list, the line.
func (p *Page) BlockText() string {
	if p.Narrows {
		return p.LineText()
	}
	if p.Block != nil {
		if text := p.Block(p.Current()); text != "" {
			return text
		}
	}
	line := func(i int) string {
		if i < 0 || i >= len(p.shown) {
			return ""
		}
		return strings.TrimRight(termtext.SpansText(p.spans(&p.shown[i]), false), " ")
	}
	from, to := p.cursor, p.cursor
	for line(from-1) != "" {
		from--
	}
	var lines []string
	for ; line(to) != ""; to++ {
	}
	for i := from; i < to; i++ {
		lines = append(lines, line(i))
	}
	return strings.Join(lines, "\n")
}
