package terminal

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// A Table is text in aligned columns.
type Table struct {
	rows   [][]string
	widths []int
}

// Row adds a row. Cells may hold anything: control characters are escaped.
func (t *Table) Row(cells ...string) {
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

// narrowest is the least width of a column that is cut: its content can still be
// recognized.
const narrowest = 8

// Write writes the rows, two blanks between columns. Unless width is 0, lines are
// cut to that many columns of the terminal; before that the cells in the table's
// columns that may be cut, the widest column first.
func (t *Table) Write(w io.Writer, width int, may ...int) error {
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

// narrow shrinks the widest of the columns that may be cut until lines fit.
func (t *Table) narrow(width int, may []int) {
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
