package diffpage

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
)

// gutter is the number of columns between the two sides.
const gutter = 3

// Columns returns the width of each side and the column at which the right one begins.
// Both have the same width, so they are cut at the same places.
func Columns(width int) (each, right int) {
	each = max((width-gutter)/2, 0)
	return each, each + gutter
}

// signs are the gutter's signs, by kind of row.
var signs = [...]termtext.Span{
	compare.Equal: termtext.Dim.Span(" │ "), compare.Changed: termtext.Bold.Span(" ≠ "),
	compare.OnlyOld: termtext.Red.Span(" < "), compare.OnlyNew: termtext.Green.Span(" > "),
}

// heading names both sides.
func (v *View) heading(width int) []termtext.Span {
	each, _ := Columns(width)
	spans := append(v.head(Left, each), signs[compare.Equal])
	return append(spans, v.head(Right, each)...)
}

func (v *View) head(side Side, columns int) []termtext.Span {
	taken, style := v.table.taken[side], termtext.Dim
	if side == v.Side {
		style = termtext.Bold
	}
	var notes []string
	if !taken.ended {
		notes = append(notes, "live")
	}
	if taken.full {
		notes = append(notes, "its end is left out")
	}
	if taken.err != nil {
		notes = append(notes, "a part cannot be read")
	}
	counted := termtext.Grouped(int64(len(v.table.steps(side)))) + " steps"
	end := termtext.Dotted(append([]string{counted}, notes...)...)
	name := termtext.Cut(v.Heads[side].Name, max(columns-termtext.Width(end)-3, 1))
	return []termtext.Span{style.Span(termtext.Pad(termtext.Cut(name+" · "+end, max(columns, 1)), columns))}
}

// Spans returns a line for drawing.
func (v *View) Spans(item, width int) []termtext.Span {
	l := v.lines[item]
	if l.hidden > 0 {
		text := fmt.Sprintf(" %s equal ", termtext.Grouped(int64(l.hidden)))
		before := max((width-len(text))/2, 0)
		return []termtext.Span{termtext.Dim.Span(strings.Repeat("·", before) + text + strings.Repeat("·", max(width-before-len(text), 0)))}
	}
	each, _ := Columns(width)
	spans := append(v.Half(item, Left, each), signs[v.table.Rows[l.row].Kind])
	return append(spans, v.Half(item, Right, each)...)
}

// A side shows frame numbers if it has at least numbered columns; they take
// numberColumns.
const numbered, numberColumns = 56, 7

// Half returns one side of a line that is not folded, in exactly the given number of
// columns.
func (v *View) Half(item int, side Side, columns int) []termtext.Span {
	row := v.lines[item].row
	step, ok := v.table.step(row, side)
	if !ok {
		return termtext.FitSpans(nil, columns)
	}
	var number []termtext.Span
	if columns >= numbered && step.Seq > 0 {
		number = []termtext.Span{termtext.Dim.Span(fmt.Sprintf("%*s ", numberColumns-1, v.Heads[side].Label(step.Position)))}
		columns -= termtext.SpansWidth(number)
	}
	spans := v.text(row, side, 4*columns)
	if v.table.Rows[row].Kind == compare.Changed {
		spans = shifted(spans, v.shift(row, columns))
	}
	return append(number, termtext.FitSpans(spans, columns)...)
}

// text returns a row's text on a side. If the row does not differ from its counterpart,
// text may return only its first enough bytes.
func (v *View) text(row int, side Side, enough int) []termtext.Span {
	r := v.table.Rows[row]
	step, _ := v.table.step(row, side)
	if r.Kind != compare.Changed {
		style := [...]termtext.Style{compare.Equal: termtext.Dim, compare.OnlyOld: termtext.Red, compare.OnlyNew: termtext.Green}[r.Kind]
		return []termtext.Span{style.Span(clean(step.Text[:min(len(step.Text), enough)]))}
	}
	style := [sides]termtext.Style{termtext.Red, termtext.Green}[side]
	var spans []termtext.Span
	for i, p := range v.partsOf(row)[side] {
		text, common := p.Shown(i == 0, maxShown), termtext.Plain
		if p.Differs {
			common = style
		}
		spans = append(spans, common.Span(clean(text)))
	}
	return spans
}

// partsOf returns what two steps side by side share and where they differ.
func (v *View) partsOf(row int) [sides][]compare.Part {
	p, ok := v.parts[row]
	if !ok {
		r := v.table.Rows[row]
		p[Left], p[Right] = compare.Parts(v.table.Old[r.Old].Text, v.table.New[r.New].Text)
		v.parts[row] = p
	}
	return p
}

// maxShown limits the bytes shown of a part.
const maxShown = 8 << 10

// clean makes text safe for a terminal. It drops nothing, so texts that differ only in
// control characters still look different.
func clean(text string) string {
	return strings.Map(termtext.Visible, strings.ReplaceAll(text, "\t", "    "))
}

// shift returns the number of columns by which two steps side by side are moved left so
// that their first difference is visible.
func (v *View) shift(row, columns int) int {
	before, longest := 1<<30, 0
	for side := range sides {
		lead := 0
		if parts := v.partsOf(row)[side]; len(parts) > 0 && !parts[0].Differs {
			lead = termtext.Width(clean(parts[0].Shown(true, maxShown)))
		}
		before = min(before, lead)
		longest = max(longest, termtext.SpansWidth(v.text(row, side, 0)))
	}
	if before <= columns*2/3 || longest <= columns {
		return 0
	}
	return before - columns/3
}

// shifted removes the leading columns, all of which are in the first span.
func shifted(spans []termtext.Span, columns int) []termtext.Span {
	if columns > 0 {
		head := termtext.Head(spans[0].Text, columns+1) // one column for the ellipsis
		spans[0].Text = "…" + spans[0].Text[len(head):]
	}
	return spans
}
