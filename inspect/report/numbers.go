package report

import (
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/termtext"
)

// A numberTable is one of the tables that acptap stats has.
type numberTable struct {
	Name    string
	Columns []numberColumn
	Rows    [][]numberCell
	Left    int // rows that are not shown
}

type numberColumn struct{ Heading, Class string }

type numberCell struct {
	Text, Class string
	Frame       *frameRef // that it leads to; nil: to none
}

// mostNumbers is how many rows of a table are shown.
const mostNumbers = 40

// numbers returns the tables that have something to tell.
func (r *reader) numbers() []numberTable {
	var list []numberTable
	for _, t := range r.stats.Overview() {
		if len(t.Rows) > 0 {
			list = append(list, tableOf(&t))
		}
	}
	if slowest := r.slowest(); len(slowest.Rows) > 0 {
		list = append(list, slowest)
	}
	return list
}

// tableOf returns a table for the page.
func tableOf(t *stats.Table) numberTable {
	one := numberTable{Name: t.Name, Left: max(len(t.Rows)-mostNumbers, 0)}
	shown := t.Shown(0, 0)
	for _, i := range shown {
		c := numberColumn{Heading: t.Columns[i].Heading, Class: "n"}
		if t.Columns[i].Left {
			c.Class = ""
		}
		one.Columns = append(one.Columns, c)
	}
	for _, row := range t.Rows[:min(len(t.Rows), mostNumbers)] {
		var cells []numberCell
		for at, i := range shown {
			c := numberCell{Text: termtext.Cut(row[i].String(), 160), Class: one.Columns[at].Class}
			switch {
			case row[i].TellsNothing():
				c.Class += " soft"
			case t.Columns[i].Name == "failed":
				c.Class += " bad"
			}
			cells = append(cells, c)
		}
		one.Rows = append(one.Rows, cells)
	}
	return one
}

// mostSlow is how many of the slowest calls are listed.
const mostSlow = 10

// slowest returns the calls that took longest.
func (r *reader) slowest() numberTable {
	t := numberTable{Name: "slowest calls", Columns: []numberColumn{{"method", ""}, {"frame", "n"}, {"took", "n"}}}
	for _, c := range stats.Slowest(r.trace.Calls, mostSlow) {
		frame := r.frame(c.Run, c.Request)
		t.Rows = append(t.Rows, []numberCell{
			{Text: termtext.Spaced(termtext.Piece(c.Name()), termtext.Piece(c.Tool))},
			{Text: frame.String(), Class: "n", Frame: &frame},
			{Text: termtext.Duration(c.Latency()), Class: "n"},
		})
	}
	return t
}
