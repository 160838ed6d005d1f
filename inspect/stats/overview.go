package stats

import "github.com/acptap/acptap/record/trace"

// spread lists the columns for counts and percentiles.
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

// row adds a row with the cells of spread, and returns it. Its share is unknown unless
// the caller sets it.
func (o *overview) row(name string, u unit, cells []Cell) []Cell {
	row := append([]Cell{text(name), text(u.name)}, append(cells, Cell{})...)
	o.Rows = append(o.Rows, row)
	return row
}

// series adds a row of numbers, if there are any, and returns it. The sum stays unknown
// unless the caller sets it.
func (o *overview) series(name string, s *Series, u unit) []Cell {
	if s.n == 0 {
		return nil
	}
	row := o.row(name, u, s.cells(u))
	row[sumColumn] = Cell{}
	return row
}

func (o *overview) timing(name string, t *Timing) {
	if t.Total() > 0 {
		o.row(name, inTime, t.cells())
	}
}

// cells returns the cells of spread.
func (t *Timing) cells() []Cell {
	cells := t.Took.cells(inTime)
	cells[0], cells[1], cells[2] = count(t.N), count(t.Failed), count(t.Open)
	return cells
}

// cells returns the cells of spread for numbers of which none are failed or open.
func (s *Series) cells(u unit) []Cell {
	cells := []Cell{count(s.Count()), {}, {}}
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
// tokens.
func (c *Collector) Overview() []Table {
	turns := c.Turns()
	return []Table{turns.table(), turns.waits(), named("tools", c.Tools()), named("servers", c.Servers()), named("methods", c.Methods()), c.tokenTable(&turns.Usage)}
}

func named(name string, list []Named) Table {
	o := newOverview(name)
	for _, one := range list {
		o.timing(one.Name, one.Timing)
	}
	return o.Table
}

func (t *Turns) table() Table {
	o := newOverview("turns")
	o.timing("turn", &t.Timing)
	for _, end := range t.Ends() {
		o.timing(end.How.String(), end.Timing)
		o.Rows[len(o.Rows)-1][0].below = true
	}
	o.series("first output", &t.Output.Took, inTime)
	o.series("first text", &t.Text.Took, inTime)
	o.series("cancel to end", &t.Confirm.Took, inTime)
	o.series("chunks a second", &t.Rate, inRate)
	return o.Table
}

// sumColumn is the index of the column of sums.
const sumColumn = 9

// waits returns the table of what turns waited for.
func (t *Turns) waits() Table {
	o := newOverview("waits")
	for i, part := range Parts(t.Waited) {
		if s := &t.Parts[i]; s.n > 0 {
			o.row(part.Name, inTime, s.cells(inTime))[sumColumn+1] = Share(int64(part.Took), int64(t.Waited.Sum()))
		}
		if i == 0 && t.Silences > 0 {
			o.Rows = append(o.Rows, []Cell{{kind: aText, text: "silences", below: true}, text("s"), count(t.Silences), {}, {}, {}, {}, {}, took(t.Silence), {}, {}})
		}
	}
	return o.Table
}

// Share returns a cell with a part of a whole, empty if there is no whole.
func Share(part, whole int64) Cell {
	if whole <= 0 {
		return Cell{}
	}
	return Cell{kind: aShare, x: float64(part) / float64(whole)}
}

var kindNames = [kinds]string{"input", "output", "thought", "cached read", "cached write", "total"}

// tokenTable returns the table of what agents report: tokens of turns, costs, and how
// full contexts are.
func (c *Collector) tokenTable(u *Usage) Table {
	o, sessions := newOverview("tokens"), c.Sessions()
	for i, sum := range kindsOf(&u.Tokens) {
		row := o.series(kindNames[i], &u.Kinds[i], inTokens)
		if row == nil {
			continue
		}
		if u.Running { // the numbers belong to the session, not to turns
			clear(row[sumColumn-4 : sumColumn])
		}
		row[sumColumn] = tokens(sum, u.Running)
	}
	for _, currency := range currencies(u.Costs) {
		cost := u.Costs[currency]
		o.series("cost in "+currency, &cost.Each, inMoney(currency))[sumColumn] = Cell{kind: anAmount, x: cost.Sum}
	}
	for i, name := range [...]string{"context, last", "context, peak"} {
		s := &sessions.Contexts[i]
		if row := o.series(name, s, inTokens); row != nil {
			row[sumColumn+1] = Share(s.max, int64(min(sessions.Size, maxTokens)))
		}
	}
	return o.Table
}

// tokens returns the cell for a number of tokens; about means that it is not the sum over
// the turns.
func tokens(n trace.Count, about bool) Cell {
	if !n.Given {
		return Cell{}
	}
	return Cell{kind: aCount, n: int64(n.N), about: about}
}
