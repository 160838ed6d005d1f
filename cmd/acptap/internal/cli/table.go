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
	Least []int // columns that Write leaves out if they are empty or, in this order, to make room

	headed bool
	rows   [][]cell
	widths []int
	hidden []bool // the columns left out
}

// A cell is clean text in one or several styles.
type cell []termtext.Span

// Row adds a row. Cells may hold anything: control characters are escaped.
func (t *Table) Row(cells ...string) { t.styled(termtext.Plain, cells) }

// Heading adds a row of column headings.
func (t *Table) Heading(cells ...string) {
	t.headed = true
	t.styled(termtext.Bold, cells)
}

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
			t.widths, t.hidden = append(t.widths, 0), append(t.hidden, false)
		}
		t.widths[i] = max(t.widths[i], termtext.SpansWidth(row[i]))
	}
	t.rows = append(t.rows, row)
}

// narrowest is the minimum width of a shrunk column: its content can still be recognized.
// Before a column gets narrower than roomy, those in Least are left out.
const (
	narrowest = 8
	roomy     = 20
)

// Write writes the rows with two blanks between columns. Unless width is 0, it fits lines
// into width columns of the terminal: it leaves out columns in Least, shrinks the table's
// columns in may, widest first, and then cuts lines.
func (t *Table) Write(w io.Writer, width int, may ...int) error {
	for _, i := range t.Least {
		t.hidden[i] = !slices.ContainsFunc(t.content(), func(row []cell) bool { return i < len(row) && termtext.SpansWidth(row[i]) > 0 })
	}
	if width > 0 && len(may) > 0 {
		t.makeRoom(width, may)
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
		if t.hidden[i] {
			continue
		}
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

// content returns the rows without the heading.
func (t *Table) content() [][]cell {
	if t.headed {
		return t.rows[1:]
	}
	return t.rows
}

// makeRoom leaves out columns in Least, first those at its beginning, until lines fit
// without narrowing the columns in may to less than roomy.
func (t *Table) makeRoom(width int, may []int) {
	spare := 0
	for _, i := range may {
		spare += max(t.widths[i]-roomy, 0)
	}
	for _, i := range t.Least {
		if t.excess(width) <= spare {
			return
		}
		t.hidden[i] = true
	}
}

// excess returns how many columns lines are too wide.
func (t *Table) excess(width int) int {
	over := -width - 2
	for i, w := range t.widths {
		if !t.hidden[i] {
			over += w + 2
		}
	}
	return over
}

// narrow shrinks the widest of the columns in may until lines fit.
func (t *Table) narrow(width int, may []int) {
	for over := t.excess(width); over > 0; over-- {
		widest := slices.MaxFunc(may, func(a, b int) int { return cmp.Compare(t.widths[a], t.widths[b]) })
		if t.widths[widest] <= narrowest {
			return
		}
		t.widths[widest]--
	}
}
