package diffpage

import (
	"strings"

	"github.com/acptap/acptap/replay/compare"
)

// A Table shows two conversations side by side. It is immutable.
type Table struct {
	compare.Alignment
	Rows  []compare.Row
	taken [sides]taken // without the steps
}

func newTable(left, right taken) *Table {
	t := &Table{Alignment: compare.Align(left.steps, right.steps)}
	left.steps, right.steps = nil, nil
	t.taken = [sides]taken{left, right}
	t.Rows = t.Alignment.Rows()
	return t
}

// steps returns a side's steps.
func (t *Table) steps(side Side) []compare.Step {
	if side == Left {
		return t.Old
	}
	return t.New
}

// on returns the index of a row's step on a side, or -1 if there is none.
func on(r compare.Row, side Side) int {
	if side == Left {
		return int(r.Old)
	}
	return int(r.New)
}

// step returns a row's step on a side.
func (t *Table) step(row int, side Side) (s compare.Step, ok bool) {
	i := on(t.Rows[row], side)
	if i < 0 {
		return compare.Step{}, false
	}
	return t.steps(side)[i], true
}

// Summary says how much differs.
func (t *Table) Summary() string { return compare.Summary(t.Rows, "left", "right") }

// path returns the steps above a row, outermost first.
func (t *Table) path(row int) []string {
	side := Left
	if t.Rows[row].Old < 0 {
		side = Right
	}
	steps, i := t.steps(side), on(t.Rows[row], side)
	var path []string
	for depth := depthOf(steps[i].Text); i >= 0 && depth > 0; i-- {
		if d := depthOf(steps[i].Text); d < depth {
			path, depth = append([]string{strings.TrimSpace(steps[i].Text)}, path...), d
		}
	}
	return path
}

func depthOf(text string) int { return len(text) - len(strings.TrimLeft(text, " ")) }
