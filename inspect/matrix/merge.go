package matrix

import "slices"

// Merge adds another Matrix, of later tapes, which must not be used afterwards.
func (m *Matrix) Merge(o *Matrix) {
	for key, from := range o.peers {
		to := m.peer(key.protocol, key.name, key.version)
		if to == nil {
			continue
		}
		to.Tapes += from.Tapes
		to.Frames += from.Frames
		for column, c := range from.cells {
			to.cell(column).merge(c)
		}
		for id, c := range from.cases {
			if to.cases == nil {
				to.cases = map[string]*Cell{}
			}
			to.cases[id] = c
		}
		to.Measures.merge(&from.Measures)
	}
}

func (c *Cell) merge(o *Cell) {
	c.Connections += o.Connections
	c.Offered += o.Offered
	c.Worked += o.Worked
	c.Missing += o.Missing
	c.Failed += o.Failed
	c.Findings += o.Findings
	c.Hangs += o.Hangs
	c.Hurts += o.Hurts
	c.Tapes += o.Tapes
	for _, rule := range o.Rules {
		if !slices.Contains(c.Rules, rule) {
			c.Rules = append(c.Rules, rule)
		}
	}
	if o.First != nil && (c.First == nil || o.worst == Broken && c.worst != Broken) {
		c.First, c.worst = o.First, o.worst
	}
}

func (m *Measures) merge(o *Measures) {
	for _, maps := range []struct {
		to   *map[string]int
		from map[string]int
	}{{&m.Findings, o.Findings}, {&m.Stops, o.Stops}, {&m.Errors, o.Errors}} {
		for key, n := range maps.from {
			add(maps.to, key, n)
		}
	}
	for rule := range o.Tried {
		m.tried(rule)
	}
	m.Turns.Merge(&o.Turns)
	m.Setup.Merge(&o.Setup)
}
