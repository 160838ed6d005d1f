package main

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/record/termtext"
)

// A table is aligned text for people.
type table struct {
	rows   [][]string
	widths []int
}

// row adds a row. Cells that come from outside may hold anything.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		c = termtext.Line(c)
		cells[i] = c
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], termtext.Width(c))
	}
	t.rows = append(t.rows, cells)
}

// narrowest is what is left of a column that is cut, so that one can still tell
// what it holds.
const narrowest = 8

// write writes the rows, two blanks between columns. Unless width is 0, lines are
// cut to that many columns of the terminal; before that the cells of those
// columns of the table that may be cut, the widest first.
func (t *table) write(w io.Writer, width int, may ...int) error {
	if width > 0 && len(may) > 0 {
		t.narrow(width, may)
	}
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		gap := 0
		for i, c := range row {
			if c == "" {
				gap += t.widths[i] + 2
				continue
			}
			c = termtext.Cut(c, t.widths[i])
			line.WriteString(strings.Repeat(" ", gap))
			line.WriteString(c)
			gap = t.widths[i] - termtext.Width(c) + 2
		}
		text := line.String()
		if width > 0 {
			text = termtext.Cut(text, width)
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// narrow takes from the widest of the columns that may be cut until lines fit.
func (t *table) narrow(width int, may []int) {
	over := -width - 2
	for _, w := range t.widths {
		over += w + 2
	}
	for ; over > 0; over-- {
		widest := slices.MaxFunc(may, func(a, b int) int { return cmp.Compare(t.widths[a], t.widths[b]) })
		if t.widths[widest] <= narrowest {
			return
		}
		t.widths[widest]--
	}
}

// timeText returns a time as people read it in a list.
func timeText(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
