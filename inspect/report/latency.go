package report

import (
	"fmt"
	"slices"
	"time"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/termtext"
)

// latencies holds the times of turns, calls and tools in both runs.
type latencies struct {
	P95    bool // some row has enough samples for it
	Groups []latencyGroup
}

// Columns returns the number of columns of the table.
func (l *latencies) Columns() int {
	if l.P95 {
		return 8
	}
	return 6
}

func (l *latencies) html() h.Node {
	heads := func(run string) h.Node {
		return h.Group{h.Th(h.Scope("col"), h.Class("n"), letter(run), h.Text(" n")), h.Raw(`<th scope="col" class="n">p50</th>`), h.Given(l.P95, h.Raw(`<th scope="col" class="n">p95</th>`))}
	}
	return h.Group{h.Div(h.Class("scroll"), h.Attr("tabindex", "0"), h.Table(h.Class("numbers both"),
		h.THead(h.Tr(h.Raw(`<th scope="col"><span class="skip">of</span></th>`), heads("A"), heads("B"), h.Raw(`<th scope="col">p50 of B against A</th>`))), h.NL,
		h.Each(l.Groups, l.group))), h.NL}
}

// group returns a part of the table.
func (l *latencies) group(of latencyGroup) h.Node {
	columns := h.Attr("colspan", fmt.Sprint(l.Columns()))
	return h.Group{h.TBody(h.Tr(h.Class("kind"), h.Th(h.Scope("rowgroup"), columns, h.Text(of.Name))), h.NL,
		h.Each(of.Rows, func(row latency) h.Node {
			return h.Group{h.Tr(h.Th(h.Scope("row"), h.Text(row.Name)), h.Each(row.Of[:], l.spread), h.Td(row.Difference.html())), h.NL}
		}),
		h.Given(of.Left, h.Tr(h.Td(h.Class("soft"), columns, h.Text(fmt.Sprintf("and %d more", of.Left)))), h.NL)), h.NL}
}

// spread returns the cells of one run.
func (l *latencies) spread(s spread) h.Node {
	cell := func(v value) h.Node { return h.Td(h.Class("n"), h.Text(v.String())) }
	return h.Group{cell(s.N), cell(s.P50), h.Given(l.P95, cell(s.P95))}
}

// A latencyGroup holds the rows of one kind, such as methods.
type latencyGroup struct {
	Name string
	Rows []latency
	Left int // rows not shown
}

// A latency is how long a row's samples took in A and in B.
type latency struct {
	Name       string
	Of         [2]spread
	Difference difference // of the medians
}

// A spread is the number of samples, their median, and their 95th percentile.
type spread struct {
	N        value
	P50, P95 value
}

func spreadOf(s *stats.Series) spread {
	one := spread{N: count(s.Count())}
	for p, to := range map[int]*value{50: &one.P50, 95: &one.P95} {
		if ns, ok := s.Percentile(p); ok {
			*to = timeOf(time.Duration(ns))
		}
	}
	return one
}

// latenciesOf returns how long turns, calls and tools took in both runs.
func latenciesOf(a, b *stats.Collector) latencies {
	var all latencies
	for _, kind := range []struct {
		name string
		of   func(*stats.Collector) []stats.Named
	}{
		{"turns", turnTimes},
		{"methods", (*stats.Collector).Methods},
		{"tools", (*stats.Collector).Tools},
		{"servers", (*stats.Collector).Servers},
	} {
		one := latencyGroup{Name: kind.name}
		for i, c := range [2]*stats.Collector{a, b} {
			one.add(i, kind.of(c))
		}
		for i := range one.Rows {
			row := &one.Rows[i]
			row.Difference = between(row.Of[0].P50, row.Of[1].P50)
			if only := onlyIn(row.Of[0].N, row.Of[1].N); only != "" {
				row.Difference.Words = only
			}
			all.P95 = all.P95 || row.Of[0].P95.known() || row.Of[1].P95.known()
		}
		if n := len(one.Rows) - mostNumbers; n > 0 {
			one.Rows, one.Left = one.Rows[:mostNumbers], n
		}
		if len(one.Rows) > 0 {
			all.Groups = append(all.Groups, one)
		}
	}
	return all
}

// add adds the rows of one run. Rows that only B has come last.
func (g *latencyGroup) add(run int, list []stats.Named) {
	for _, n := range list {
		if n.Took.Count() == 0 {
			continue
		}
		name := termtext.Piece(n.Name)
		at := slices.IndexFunc(g.Rows, func(l latency) bool { return l.Name == name })
		if at < 0 {
			at = len(g.Rows)
			g.Rows = append(g.Rows, latency{Name: name})
		}
		g.Rows[at].Of[run] = spreadOf(&n.Took)
	}
}

// turnTimes returns the times of whole turns.
func turnTimes(c *stats.Collector) []stats.Named {
	t := c.Turns()
	return []stats.Named{
		{Name: "turn", Timing: &t.Timing},
		{Name: "first output", Timing: &t.Output},
		{Name: "first text", Timing: &t.Text},
		{Name: "cancel to end", Timing: &t.Confirm},
	}
}
