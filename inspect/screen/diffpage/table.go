package diffpage

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
)

// A Table is two conversations side by side. It does not change.
type Table struct {
	compare.Alignment
	Rows   []compare.Row
	counts [compare.OnlyNew + 1]int // of the rows, by kind
	blocks int                      // runs of rows that differ
	taken  [sides]taken             // without the steps
}

func newTable(left, right taken) *Table {
	t := &Table{Alignment: compare.Align(left.steps, right.steps)}
	left.steps, right.steps = nil, nil
	t.taken = [sides]taken{left, right}
	t.Rows = t.Alignment.Rows()
	before := compare.Equal
	for _, r := range t.Rows {
		t.counts[r.Kind]++
		if r.Kind != compare.Equal && before == compare.Equal {
			t.blocks++
		}
		before = r.Kind
	}
	return t
}

// Same reports whether nothing differs.
func (t *Table) Same() bool { return t.blocks == 0 }

// Ended reports whether nothing will follow on a side.
func (t *Table) Ended(side Side) bool { return t.taken[side].ended }

// steps returns the steps of a side.
func (t *Table) steps(side Side) []compare.Step {
	if side == Left {
		return t.Old
	}
	return t.New
}

// on returns the index of the step that a row has on a side, -1 if there is none.
func on(r compare.Row, side Side) int {
	if side == Left {
		return int(r.Old)
	}
	return int(r.New)
}

// step returns what a row has on a side.
func (t *Table) step(row int, side Side) (s compare.Step, ok bool) {
	i := on(t.Rows[row], side)
	if i < 0 {
		return compare.Step{}, false
	}
	return t.steps(side)[i], true
}

// Summary says how much differs.
func (t *Table) Summary() string {
	if t.Same() {
		return "no difference"
	}
	text := "1 difference"
	if t.blocks > 1 {
		text = termtext.Grouped(int64(t.blocks)) + " differences"
	}
	var parts []string
	for kind, word := range [...]string{compare.Changed: "changed", compare.OnlyOld: "only left", compare.OnlyNew: "only right"} {
		if n := t.counts[kind]; word != "" && n > 0 {
			parts = append(parts, fmt.Sprint(termtext.Grouped(int64(n)), " ", word))
		}
	}
	return text + ": " + strings.Join(parts, ", ")
}

// path returns the steps that a row stands below, the outermost first.
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
