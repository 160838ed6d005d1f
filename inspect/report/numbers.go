package report

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A numberTable is one of the tables that acptap stats has.
type numberTable struct {
	Name    string
	Columns []numberColumn
	Rows    [][]numberCell
	Left    int // rows that are not shown
}

type numberColumn struct{ Heading, Class string }

type numberCell struct{ Text, Class string }

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
	var answered []*trace.Call
	for _, c := range r.trace.Calls {
		if !c.Open() && !c.Untimed {
			answered = append(answered, c)
		}
	}
	slices.SortStableFunc(answered, func(a, b *trace.Call) int { return cmp.Compare(b.Latency(), a.Latency()) })
	t := numberTable{Name: "slowest calls", Columns: []numberColumn{{"method", ""}, {"frame", "n"}, {"took", "n"}}}
	for _, c := range answered[:min(len(answered), mostSlow)] {
		t.Rows = append(t.Rows, []numberCell{
			{termtext.Spaced(termtext.Piece(c.Name()), termtext.Piece(c.Tool)), ""},
			{r.frame(c.Run, c.Request).String(), "n"},
			{termtext.Duration(c.Latency()), "n"},
		})
	}
	return t
}
