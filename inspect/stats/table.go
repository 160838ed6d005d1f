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

// A Table is rows of numbers about things of one kind.
type Table struct {
	Name    string // for programs: turns, or what rows are about, such as agent
	Columns []Column
	Rows    [][]Cell // one cell for each column
}

// A Column is what a cell of each row says.
type Column struct {
	Name    string // for programs
	Heading string // for people; empty: it is for programs only
	Rank    int    // those with the lowest are shown where there is no room for all
	Left    bool   // it is aligned to the left, and is cut where there is no room
}

// Shown returns the columns that fit into so many columns of a terminal, by their
// indexes: those in which a row tells something, most important first, and the first in
// any case, of which at least narrow columns are shown. With a width of 0 all fit.
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

// WriteCSV writes tables as one list of comma-separated values with a line of names: times
// are seconds, and unknown values are empty. Values are quoted as in RFC 4180; lines end
// with LF, which tools of Unix take and all others do too. The tables have the same columns. If there are several, the first column says which of them a line is of.
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
			out.Write(line) // an error is kept
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

// Lines returns the rows as JSON objects, without members for unknown values.
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
	b, _ := json.Marshal(s) // a string always can be
	return b
}

// sortRows sorts rows by the number in a column, the largest first.
func sortRows(rows [][]Cell, column int) {
	slices.SortStableFunc(rows, func(a, b []Cell) int { return cmp.Compare(b[column].n, a[column].n) })
}
