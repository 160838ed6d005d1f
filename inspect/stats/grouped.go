package stats

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
)

// labels lists the columns that identify a row.
var labels = map[By][]Column{
	ByAgent:   {{"agent", "agent", 0, true}},
	ByVersion: {{"agent", "agent", 0, true}, {"version", "version", 0, true}},
	BySession: {{"session", "session", 0, true}, {"agent", "agent", 6, true}, {"version", "", 0, true}, {"title", "title", 1, true}},
	ByTurn: {{"turn", "turn", 0, true}, {"tape", "", 0, true}, {"frame", "", 0, false}, {"session", "", 0, true}, {"number", "", 0, false},
		{"agent", "", 0, true}, {"version", "", 0, true}, {"title", "title", 1, true}, {"end", "end", 3, true}},
}

// details lists the columns about turns that follow their times.
var details = []Column{
	{"waitedAgent", "on agent", 3, false}, {"waitedTool", "on tools", 3, false}, {"waitedClient", "on client", 8, false}, {"waitedUser", "on you", 5, false},
	{"firstOutput", "output", 6, false}, {"firstText", "text", 11, false}, {"cancelToEnd", "cancel", 12, false},
	{"silences", "silent", 9, false}, {"longestSilence", "longest", 12, false},
	{"chunks", "", 0, false}, {"chunksPerSecond", "chunks/s", 12, false},
	{"toolCalls", "calls", 11, false}, {"failedToolCalls", "", 0, false}, {"cancelledToolCalls", "", 0, false},
	{"requests", "", 0, false}, {"refused", "refused", 12, false}, {"cancelled", "", 0, false}, {"failedRequests", "", 0, false},
	{"inputTokens", "in", 4, false}, {"outputTokens", "out", 4, false}, {"thoughtTokens", "thought", 12, false},
	{"cachedReadTokens", "cached", 10, false}, {"cachedWriteTokens", "written", 12, false}, {"totalTokens", "total", 11, false},
	{"wholeSession", "", 0, false}, {"contextPeak", "context", 9, false},
}

// Grouped returns the table that By asks for, with the rows with the most turns or calls
// first. It is complete after End.
func (c *Collector) Grouped() Table {
	switch c.By {
	case ByMethod:
		t := c.timings("method", c.Methods())
		t.weigh(c.weights.methods, false)
		return t
	case ByTool:
		t := c.timings("tool", c.Tools())
		t.weigh(c.weights.tools, true)
		return t
	case ByServer:
		return c.timings("server", c.Servers())
	case ByTurn:
		return c.turnRows()
	}
	t := c.newGrouped()
	for _, g := range c.groups.sorted() {
		t.add(g.labels(c.By), g)
	}
	return t.Table
}

func (c *Collector) timings(name string, list []Named) Table {
	t := Table{Name: name, Columns: append([]Column{{name, name, 0, true}}, spread...)}
	for _, one := range list {
		t.Rows = append(t.Rows, append([]Cell{text(one.Name)}, one.cells()...))
	}
	return t
}

// grouped is a table of groups.
type grouped struct {
	Table
	currencies []string
}

func (c *Collector) newGrouped() *grouped {
	t := &grouped{Table{Name: string(c.By)}, currencies(c.all.Usage.Costs)}
	t.Columns = append(t.Columns, labels[c.By]...)
	t.Columns = append(t.Columns, Column{"of", "", 0, true})
	for _, column := range spread {
		if c.By == ByTurn { // a row has only one turn
			column.Heading = map[string]string{"sum": "took"}[column.Name]
		}
		t.Columns = append(t.Columns, column)
	}
	t.Columns = append(t.Columns, details...)
	for _, currency := range t.currencies {
		t.Columns = append(t.Columns, Column{"cost" + currency, currency, 5, false})
	}
	return t
}

// add adds a row that begins with labels.
func (t *grouped) add(labels []Cell, g *group) {
	timing, of := g.timing(), "turns"
	if timing == &g.Calls {
		of = "calls"
	}
	row := append(append(labels, text(of)), timing.cells()...)
	if of == "turns" {
		row = append(row, g.details(t.currencies)...)
	}
	for len(row) < len(t.Columns) {
		row = append(row, Cell{})
	}
	t.Rows = append(t.Rows, row)
}

// details returns the cells for the columns in details and for costs.
func (g *group) details(currencies []string) []Cell {
	known := g.Total() > g.Untimed // some times are known
	when := func(d time.Duration) Cell {
		if !known {
			return Cell{}
		}
		return took(d)
	}
	middle := func(s *Series) Cell {
		v, ok := s.Percentile(50)
		if !ok {
			return Cell{}
		}
		return took(time.Duration(v))
	}
	var cells []Cell
	for _, part := range Parts(g.Waited) {
		cells = append(cells, when(part.Took))
	}
	cells = append(cells, middle(&g.Output.Took), middle(&g.Text.Took), middle(&g.Confirm.Took), Cell{}, Cell{}, count(g.Chunks), Cell{})
	if known {
		cells[7] = count(g.Silences)
	}
	if g.Silences > 0 {
		cells[8] = took(g.Silence)
	}
	if rate, ok := g.rate(); ok {
		cells[10] = Cell{kind: aNumber, x: rate}
	}
	r, u := g.Work.Requests, &g.Usage
	cells = append(cells, count(g.Work.Tools), count(g.Work.FailedTools), count(g.Work.CancelledTools), count(r.Sent), count(r.Refused), count(r.Cancelled), count(r.Failed))
	for _, n := range kindsOf(&u.Tokens) {
		cells = append(cells, tokens(n, u.Running))
	}
	whole := Cell{}
	if u.Running {
		whole = Cell{kind: aFlag}
	}
	cells = append(cells, whole, tokens(u.Peak, false))
	for _, currency := range currencies {
		cell := Cell{}
		if cost := u.Costs[currency]; cost != nil {
			cell = Cell{kind: anAmount, x: cost.Sum}
		}
		cells = append(cells, cell)
	}
	return cells
}

// labels returns the cells that identify a group.
func (g *group) labels(by By) []Cell {
	if g.name != "" {
		cells := make([]Cell, len(labels[by]))
		cells[0] = text(g.name)
		return cells
	}
	switch by {
	case ByVersion:
		return []Cell{text(g.agent), text(g.version)}
	case BySession:
		return []Cell{text(g.session), text(g.agent), text(g.version), text(g.title)}
	}
	return []Cell{text(g.agent)}
}

// turnRows returns the individual turns, longest first.
func (c *Collector) turnRows() Table {
	t := c.newGrouped()
	t.Columns = append(t.Columns, weighed[0])
	for i := range c.groups.turns {
		one := &c.groups.turns[i]
		var g group
		g.Add(&one.TurnEnd)
		g.Usage.Tokens = one.Usage.Tokens
		_, g.Usage.Running = one.sum.Total()
		ref := fmt.Sprintf("%s:%d", tapetext.ShortID(one.tape), one.Prompt)
		t.add([]Cell{text(ref), text(one.tape), count(int(one.Prompt)), text(one.session), count(one.Number),
			text(one.agent), text(one.version), text(one.title), text(one.Outcome.How.String())}, &g)
		if sent, ok := c.weights.turns.Get(Place{one.Run, one.Prompt}); ok {
			t.Rows[len(t.Rows)-1][len(t.Columns)-1] = Cell{kind: aCount, n: sent}
		}
	}
	sum := len(labels[ByTurn]) + len(spread)
	sortRows(t.Rows, sum)
	if beyond := (&group{Turns: c.groups.beyond, name: others}); beyond.Total() > 0 {
		t.add(beyond.labels(ByTurn), beyond)
	}
	return t.Table
}
