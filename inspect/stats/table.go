package stats

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"

	"github.com/acptap/acptap/record/termtext"
)

// A Table has a row of numbers for each thing of one kind.
type Table struct {
	Name    string // for programs: turns, or what rows are about, such as agent
	Columns []Column
	Rows    [][]Cell // one cell for each column
}

// A Column describes one cell of each row.
type Column struct {
	Name    string // for programs
	Heading string // for people; empty: not shown to people
	Rank    int    // columns with the lowest rank stay if not all fit
	Left    bool   // it is aligned left, and truncated if necessary
}

// Shown returns the indexes of the columns that fit into width columns of a terminal: the
// most important of those that contain information, and always the first one. A
// left-aligned column counts with at most narrow. With a width of 0 all fit.
func (t *Table) Shown(width, narrow int) []int {
	var list []int
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		told := false
		widths[i] = termtext.Width(c.Heading)
		for _, row := range t.Rows {
			told = told || !row[i].TellsNothing()
			widths[i] = max(widths[i], termtext.Width(row[i].String()))
		}
		if c.Left {
			widths[i] = min(widths[i], narrow)
		}
		if c.Heading != "" && (told || len(list) == 0) {
			list = append(list, i)
		}
	}
	for width > 0 && len(list) > 1 {
		needed, last := -2, 0
		for n, i := range list {
			needed += widths[i] + 2
			if n > 0 && t.Columns[i].Rank >= t.Columns[list[max(last, 1)]].Rank {
				last = n
			}
		}
		if needed <= width {
			break
		}
		list = append(list[:last], list[last+1:]...)
	}
	return list
}

// WriteCSV writes tables as one list of comma-separated values with a header line: times
// are in seconds, and unknown values are empty. Values are quoted as in RFC 4180; lines
// end with LF, which Unix tools need and all others accept. The tables must have the same
// columns. If there are several, the first column names each line's table.
func WriteCSV(w io.Writer, tables ...Table) error {
	out := csv.NewWriter(w)
	for n, t := range tables {
		line := make([]string, 0, len(t.Columns)+1)
		if n == 0 {
			if len(tables) > 1 {
				line = append(line, "table")
			}
			for _, c := range t.Columns {
				line = append(line, c.Name)
			}
			out.Write(line) // out keeps the first error
		}
		for _, row := range t.Rows {
			line = line[:0]
			if len(tables) > 1 {
				line = append(line, t.Name)
			}
			for _, c := range row {
				line = append(line, termtext.Line(c.Plain()))
			}
			out.Write(line)
		}
	}
	out.Flush()
	return out.Error()
}

// Lines returns the rows as JSON objects without members for unknown values.
func (t *Table) Lines() []json.RawMessage {
	lines := make([]json.RawMessage, len(t.Rows))
	for n, row := range t.Rows {
		b := bytes.NewBufferString(`{"table":`)
		b.Write(quoted(t.Name))
		for i, c := range row {
			if c.kind == missing {
				continue
			}
			b.WriteByte(',')
			b.Write(quoted(t.Columns[i].Name))
			b.WriteByte(':')
			if c.kind == aText {
				b.Write(quoted(c.text))
			} else {
				b.WriteString(c.Plain())
			}
		}
		b.WriteByte('}')
		lines[n] = b.Bytes()
	}
	return lines
}

func quoted(s string) []byte {
	b, _ := json.Marshal(s) // encoding a string cannot fail
	return b
}

// sortRows sorts rows by the number in a column, largest first.
func sortRows(rows [][]Cell, column int) {
	slices.SortStableFunc(rows, func(a, b []Cell) int { return cmp.Compare(b[column].n, a[column].n) })
}
