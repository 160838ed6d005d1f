// Package diffpage lays out two conversations side by side: the steps that package
// compare finds equal, and those that differ, each next to its counterpart. A Reader reads
// both in the background and follows any recording; a View lays out what the Reader has
// found, and folds equal steps.
//
// The package draws nothing. Only the beginning of a very long conversation is compared,
// and the page says so.
package diffpage

import (
	"fmt"
	"strconv"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
)

// A View lays out a Reader's table, parts of it folded. It is not safe for concurrent
// use.
type View struct {
	Reader *Reader
	Heads  [sides]Head
	Side   Side // the cursor's side

	folds
	begun bool   // TakeFirst has returned the first difference
	table *Table // the table that the lines were built from
	lines []line
	parts map[int][sides][]compare.Part // by row of the table, for rows shown so far
}

// A Head describes a side.
type Head struct {
	Name  string                        // clean
	Label func(compare.Position) string // of a frame
}

// The folds record what the user has unfolded.
type folds struct {
	unfolded map[int32]bool // runs of equal rows, by first step on the left
	all      bool           // everything is unfolded
	changes  int            // number of changes to these and to the side
}

// A line is a row, or a fold of equal rows.
type line struct {
	row    int
	hidden int   // number of rows folded from row on; 0: the line is row
	run    int32 // the run of equal rows that it belongs to, as in folds.unfolded; -1: it differs
}

// NewView returns the view of a Reader.
func NewView(r *Reader, heads [sides]Head) *View {
	return &View{Reader: r, Heads: heads, folds: folds{unfolded: map[int32]bool{}}}
}

// Table returns the table for the lines built last, or nil if there was none. The Reader
// may have a newer one.
func (v *View) Table() *Table { return v.table }

// State returns everything that the lines depend on, except the width.
func (v *View) State() any { return [3]any{v.Reader.Table(), v.Reader.Progress(), v.changes} }

// Lines returns the lines without spans, which Spans makes.
func (v *View) Lines(width int) []page.Line {
	if t := v.Reader.Table(); t != v.table {
		v.table, v.parts = t, map[int][sides][]compare.Part{}
	}
	v.lines = v.lines[:0]
	if v.table == nil {
		text := fmt.Sprintf("reading… %d %%", v.Reader.Progress())
		return []page.Line{{Spans: []termtext.Span{termtext.Dim.Span(text)}, Item: -1}}
	}
	for _, s := range compare.Stretches(v.table.Rows, margin) {
		v.stretch(s)
	}
	list := []page.Line{{Spans: v.heading(width), Item: -1, Heading: page.Stays}}
	for i, l := range v.lines {
		list = append(list, page.Line{Item: i, Key: v.key(l)})
	}
	return list
}

// stretch adds the lines of rows that are all equal, or all different.
func (v *View) stretch(s compare.Stretch) {
	run := int32(-1)
	if s.Equal {
		run = v.table.Rows[s.From].Old
	}
	if v.all || v.unfolded[run] {
		s.Fold, s.Unfold = s.To, s.To
	}
	show := func(from, to int) {
		for i := from; i < to; i++ {
			v.lines = append(v.lines, line{row: i, run: run})
		}
	}
	show(s.From, s.Fold)
	if s.Fold < s.Unfold {
		v.lines = append(v.lines, line{s.Fold, s.Unfold - s.Fold, run})
	}
	show(s.Unfold, s.To)
}

// margin is the number of equal rows shown around rows that differ.
const margin = 2

// key identifies a line, even after others have been inserted before it.
func (v *View) key(l line) string {
	if l.hidden > 0 {
		return "fold " + strconv.Itoa(int(l.run))
	}
	r := v.table.Rows[l.row]
	return fmt.Sprint(r.Old, " ", r.New)
}

// Flip folds or unfolds the run of equal rows that a line is in. It returns the key of a
// line that exists afterwards, or an empty key if there is nothing to fold.
func (v *View) Flip(item int) (key string) {
	if !v.has(item) || v.lines[item].run < 0 {
		return ""
	}
	l := v.lines[item]
	v.changes++
	if v.unfolded[l.run] = !v.unfolded[l.run]; v.unfolded[l.run] {
		return v.key(line{row: l.row})
	}
	return v.key(line{hidden: 1, run: l.run})
}

// FlipAll unfolds everything, or returns to the default.
func (v *View) FlipAll() (unfolded bool) {
	v.all = !v.all
	v.changes++
	return v.all
}

// TakeFirst returns the key of the first difference once, as soon as there is a table;
// otherwise it returns an empty key.
func (v *View) TakeFirst() (key string) {
	if v.table == nil || v.begun {
		return ""
	}
	v.begun = true
	if i := v.NextDifference(-1, true); i >= 0 {
		return v.key(v.lines[i])
	}
	return ""
}

// OtherSide moves the cursor to the other side.
func (v *View) OtherSide() {
	v.Side = v.Side.Other()
	v.changes++
}

// Folded reports whether a line is a fold.
func (v *View) Folded(item int) bool { return v.has(item) && v.lines[item].hidden > 0 }

// Position returns a line's frame on a side.
func (v *View) Position(item int, side Side) (at compare.Position, ok bool) {
	if !v.has(item) || v.Folded(item) {
		return compare.Position{}, false
	}
	s, ok := v.table.step(v.lines[item].row, side)
	return s.Position, ok
}

// NextDifference returns the first line of the next or previous rows that differ; -1 if
// there are none.
func (v *View) NextDifference(item int, forward bool) int {
	step := 1
	if !forward {
		step = -1
	}
	for i := item + step; v.has(i); i += step {
		if v.lines[i].run < 0 && (i == 0 || v.lines[i-1].run >= 0) {
			return i
		}
	}
	return -1
}

func (v *View) has(item int) bool { return 0 <= item && item < len(v.lines) }
