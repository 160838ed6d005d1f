package stats

import "github.com/acptap/acptap/record/trace"

// spread are the columns for counts and percentiles.
var spread = []Column{
	{"n", "n", 1, false}, {"failed", "failed", 4, false}, {"open", "open", 7, false},
	{"p50", "p50", 2, false}, {"p95", "p95", 5, false}, {"p99", "p99", 8, false}, {"max", "max", 3, false}, {"sum", "sum", 1, false},
}

// An overview builds the tables of all tapes.
type overview struct{ Table }

func newOverview(name string) *overview {
	columns := append([]Column{{"name", name, 0, true}, {"unit", "", 0, true}}, spread...)
	return &overview{Table{Name: name, Columns: append(columns, Column{"share", "share", 1, false})}}
}

// row adds a row of a Series in a unit, with its share of a whole.
func (o *overview) row(name string, n, failed, open Cell, s *Series, u unit, share Cell) {
	row := append([]Cell{text(name), text(u.name), n, failed, open}, percentiles(s, u)...)
	o.Rows = append(o.Rows, append(row, share))
}

// series adds a row of numbers that have no failed or open ones, if there are any numbers,
// and returns the row. The sum stays unknown unless the caller sets it.
func (o *overview) series(name string, s *Series, u unit) []Cell {
	if s.n == 0 {
		return nil
	}
	o.row(name, count(s.Count()), Cell{}, Cell{}, s, u, Cell{})
	row := o.Rows[len(o.Rows)-1]
	row[sumColumn] = Cell{}
	return row
}

func (o *overview) timing(name string, t *Timing) {
	if t.Total() > 0 {
		o.row(name, count(t.N), count(t.Failed), count(t.Open), &t.Took, inTime, Cell{})
	}
}

// percentiles returns the cells from p50 to sum.
func percentiles(s *Series, u unit) []Cell {
	cells := make([]Cell, 0, 5)
	for _, p := range []int{50, 95, 99} {
		cell := Cell{}
		if v, ok := s.Percentile(p); ok {
			cell = u.cell(v)
		}
		cells = append(cells, cell)
	}
	if s.n == 0 {
		return append(cells, Cell{}, Cell{})
	}
	return append(cells, u.cell(s.max), u.cell(s.sum))
}

// Overview returns the tables of all tapes: turns, waits, tools, servers, methods and
// tokens. It is complete after End.
func (c *Collector) Overview() []Table {
	return []Table{c.turnTable(), c.waitTable(), named("tools", c.Tools()), named("servers", c.Servers()), named("methods", c.Methods()), c.tokenTable()}
}

func named(name string, list []Named) Table {
	o := newOverview(name)
	for _, one := range list {
		o.timing(one.Name, one.Timing)
	}
	return o.Table
}

func (c *Collector) turnTable() Table {
	o, t := newOverview("turns"), &c.all
	o.timing("turn", &t.Timing)
	for _, end := range timings(t.ends) {
		o.timing(end.Name, end.Timing)
		o.Rows[len(o.Rows)-1][0].below = true
	}
	o.series("first output", &t.Output, inTime)
	o.series("first text", &t.Text, inTime)
	o.series("cancel to end", &t.Confirm, inTime)
	o.series("chunks a second", &t.Rate, inRate)
	return o.Table
}

// sumColumn is the index of the column of sums.
const sumColumn = 9

// waitTable is the table of what turns waited for.
func (c *Collector) waitTable() Table {
	o, t := newOverview("waits"), &c.all
	for i, part := range Parts(t.Waited) {
		if s := &t.Parts[i]; s.n > 0 {
			o.row(part.Name, count(s.Count()), Cell{}, Cell{}, s, inTime, Share(int64(part.Took), int64(t.Waited.Sum())))
		}
		if i == 0 && t.Silences > 0 {
			o.Rows = append(o.Rows, []Cell{{kind: aText, text: "silences", below: true}, text("s"), count(t.Silences), {}, {}, {}, {}, {}, took(t.Silence), {}, {}})
		}
	}
	return o.Table
}

// Share returns the cell of a part of a whole, empty if there is no whole.
func Share(part, whole int64) Cell {
	if whole <= 0 {
		return Cell{}
	}
	return Cell{kind: aShare, x: float64(part) / float64(whole)}
}

var kindNames = [kinds]string{"input", "output", "thought", "cached read", "cached write", "total"}

// tokenTable is the table of what agents report: tokens of turns, costs, and how full
// contexts are.
func (c *Collector) tokenTable() Table {
	o, u := newOverview("tokens"), &c.all.Usage
	for i, sum := range kindsOf(&u.Tokens) {
		row := o.series(kindNames[i], &u.Kinds[i], inTokens)
		if row == nil {
			continue
		}
		if u.Running { // the numbers are of the session, not of turns
			clear(row[sumColumn-4 : sumColumn])
		}
		row[sumColumn] = tokens(sum, u.Running)
	}
	for _, currency := range u.currencies() {
		cost := u.Costs[currency]
		o.series("cost in "+currency, &cost.Each, inMoney(currency))[sumColumn] = Cell{kind: anAmount, x: cost.Sum}
	}
	for _, one := range []struct {
		name string
		s    *Series
	}{{"context, last", &c.context.last}, {"context, peak", &c.context.peak}} {
		if row := o.series(one.name, one.s, inTokens); row != nil {
			row[sumColumn+1] = Share(one.s.max, int64(min(c.context.size, maxTokens)))
		}
	}
	return o.Table
}

// tokens returns the cell of a number of tokens; about says that it is not the sum over the
// turns.
func tokens(n trace.Count, about bool) Cell {
	if !n.Given {
		return Cell{}
	}
	return Cell{kind: aCount, n: int64(n.N), about: about}
}
