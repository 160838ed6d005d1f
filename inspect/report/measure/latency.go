package measure

import (
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/termtext"
)

// Latencies are how long turns, calls and tools took in both runs.
type Latencies struct {
	P95    bool // there are enough of something for it
	Groups []Group
}

// Columns returns how many columns the table has.
func (l *Latencies) Columns() int {
	if l.P95 {
		return 8
	}
	return 6
}

// A Group is things of one kind, such as methods.
type Group struct {
	Name string
	Rows []Latency
	Left int // rows that are not shown
}

// A Latency is how long one of them took in A and in B.
type Latency struct {
	Name       string
	Of         [2]Spread
	Difference // of the medians
}

// A Spread is how many there were, and how long half of them and nearly all took at most.
type Spread struct {
	N        Value
	P50, P95 Value
}

func spreadOf(s *stats.Series) Spread {
	one := Spread{N: Count(s.Count())}
	for p, to := range map[int]*Value{50: &one.P50, 95: &one.P95} {
		if ns, ok := s.Percentile(p); ok {
			*to = Time(time.Duration(ns))
		}
	}
	return one
}

// mostRows is how many rows of a kind are listed.
const mostRows = 40

// LatenciesOf returns how long turns, calls and tools took in both runs.
func LatenciesOf(a, b *stats.Collector) Latencies {
	var all Latencies
	for _, kind := range []struct {
		name string
		of   func(*stats.Collector) []stats.Named
	}{
		{"turns", turnTimes},
		{"methods", (*stats.Collector).Methods},
		{"tools", (*stats.Collector).Tools},
		{"servers", (*stats.Collector).Servers},
	} {
		one := Group{Name: kind.name}
		for i, c := range [2]*stats.Collector{a, b} {
			one.add(i, kind.of(c))
		}
		for i := range one.Rows {
			row := &one.Rows[i]
			row.Difference = Between(row.Of[0].P50, row.Of[1].P50)
			if only := OnlyIn(row.Of[0].N, row.Of[1].N); only != "" {
				row.Words = only
			}
			all.P95 = all.P95 || row.Of[0].P95.Known() || row.Of[1].P95.Known()
		}
		if n := len(one.Rows) - mostRows; n > 0 {
			one.Rows, one.Left = one.Rows[:mostRows], n
		}
		if len(one.Rows) > 0 {
			all.Groups = append(all.Groups, one)
		}
	}
	return all
}

// add adds what one run has. What the other does not have stands behind what both have.
func (g *Group) add(run int, list []stats.Named) {
	for _, n := range list {
		if n.Took.Count() == 0 {
			continue
		}
		name := termtext.Piece(n.Name)
		at := slices.IndexFunc(g.Rows, func(l Latency) bool { return l.Name == name })
		if at < 0 {
			at = len(g.Rows)
			g.Rows = append(g.Rows, Latency{Name: name})
		}
		g.Rows[at].Of[run] = spreadOf(&n.Took)
	}
}

// turnTimes are what stats has of turns as a whole.
func turnTimes(c *stats.Collector) []stats.Named {
	t := c.Turns()
	return []stats.Named{
		{Name: "turn", Timing: &t.Timing},
		{Name: "first output", Timing: &stats.Timing{Took: t.Output}},
		{Name: "first text", Timing: &stats.Timing{Took: t.Text}},
		{Name: "cancel to end", Timing: &stats.Timing{Took: t.Confirm}},
	}
}
