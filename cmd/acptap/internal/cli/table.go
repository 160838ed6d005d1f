package cli

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// A Table is text in aligned columns.
type Table struct {
	Color bool  // with the 16 colours of ANSI
	Right []int // right-aligned columns, such as counts

	rows   [][]cell
	widths []int
}

// A cell is clean text in one or several styles.
type cell []termtext.Span

// Row adds a row. Cells may hold anything: control characters are escaped.
func (t *Table) Row(cells ...string) { t.styled(termtext.Plain, cells) }

// Heading adds a row of column headings.
func (t *Table) Heading(cells ...string) { t.styled(termtext.Bold, cells) }

func (t *Table) styled(style termtext.Style, cells []string) {
	row := make([][]termtext.Span, len(cells))
	for i, c := range cells {
		row[i] = []termtext.Span{style.Span(c)}
	}
	t.Spans(row...)
}

// Spans adds a row whose cells may have several styles.
func (t *Table) Spans(cells ...[]termtext.Span) {
	row := make([]cell, len(cells))
	for i, c := range cells {
		for _, s := range c {
			s.Text = termtext.Line(s.Text)
			row[i] = append(row[i], s)
		}
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], termtext.SpansWidth(row[i]))
	}
	t.rows = append(t.rows, row)
}

// narrowest is the minimum width of a shrunk column: its content can still be recognized.
const narrowest = 8

// Write writes the rows with two blanks between columns. Unless width is 0, it fits lines
// into width columns of the terminal: it shrinks the table's columns in may, widest
// first, and then cuts lines.
func (t *Table) Write(w io.Writer, width int, may ...int) error {
	if width > 0 && len(may) > 0 {
		t.narrow(width, may)
	}
	var b strings.Builder
	for _, row := range t.rows {
		b.WriteString(termtext.SpansText(cut(t.line(row), width), t.Color) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line returns a row without trailing blanks.
func (t *Table) line(row []cell) cell {
	var line cell
	gap := 0
	for i, c := range row {
		c = cut(c, t.widths[i])
		columns := termtext.SpansWidth(c)
		if columns == 0 {
			gap += t.widths[i] + 2
			continue
		}
		before, after := 0, t.widths[i]-columns
		if slices.Contains(t.Right, i) {
			before, after = after, 0
		}
		if gap += before; gap > 0 {
			line = append(line, termtext.Plain.Span(strings.Repeat(" ", gap)))
		}
		line = append(line, c...)
		gap = after + 2
	}
	return line
}

// cut returns a cell cut to a number of columns, or all of it if columns is 0.
func cut(c cell, columns int) cell {
	if columns == 0 {
		return c
	}
	return termtext.CutSpans(c, columns)
}

// narrow shrinks the widest of the columns in may until lines fit.
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
