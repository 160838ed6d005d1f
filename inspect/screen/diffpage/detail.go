package diffpage

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
)

// A Detail is the full text of a line that is too long for its columns.
type Detail struct {
	Title string
	Lines [][]termtext.Span
}

// Detail returns a line's text, one side below the other.
func (v *View) Detail(item, width, height int) Detail {
	if !v.has(item) {
		return Detail{}
	}
	l := v.lines[item]
	if l.hidden > 0 {
		return Detail{Title: fmt.Sprintf("%s equal steps · Enter shows them", termtext.Grouped(int64(l.hidden)))}
	}
	d := Detail{Title: v.title(l.row)}
	switch kind := v.table.Rows[l.row].Kind; kind {
	case compare.Equal:
		d.add(" ", v.text(l.row, Left, 4*width*height), width, height)
	case compare.OnlyOld:
		d.add("<", v.text(l.row, Left, 4*width*height), width, height)
	case compare.OnlyNew:
		d.add(">", v.text(l.row, Right, 4*width*height), width, height)
	default:
		d.add("<", v.text(l.row, Left, 0), width, (height+1)/2)
		d.add(">", v.text(l.row, Right, 0), width, height-len(d.Lines))
	}
	return d
}

// title names the frames of a row, and the steps above it.
func (v *View) title(row int) string {
	var parts []string
	for side, name := range [sides]string{"left", "right"} {
		if s, ok := v.table.step(row, Side(side)); ok && s.Seq > 0 {
			parts = append(parts, name+" frame "+v.Heads[side].Label(s.Position))
		}
	}
	var path []string
	for _, text := range v.table.path(row) {
		path = append(path, termtext.Piece(text))
	}
	return termtext.Dotted(append(parts, strings.Join(path, " › "))...)
}

// add appends a text, marked with a sign, in at most height lines. The text starts at its
// first difference if that would not be visible otherwise.
func (d *Detail) add(sign string, spans []termtext.Span, width, height int) {
	style := map[string]termtext.Style{"<": termtext.Red, ">": termtext.Green}[sign]
	columns := width - 2
	if columns < 1 || height < 1 {
		return
	}
	if len(spans) > 0 && strings.HasPrefix(spans[0].Text, " ") { // the depth is in the title
		spans[0].Text = strings.TrimLeft(spans[0].Text, " ")
	}
	lines := folded(spans, columns)
	first := 0
	if len(spans) > 1 && spans[0].Style == termtext.Plain {
		first = termtext.Width(spans[0].Text) / columns
	}
	if first >= height {
		lines = lines[min(first, len(lines)-1):]
	}
	if len(lines) > height {
		lines = lines[:height]
		lines[height-1] = append(lines[height-1][:len(lines[height-1]):len(lines[height-1])], termtext.Dim.Span("…"))
	}
	for i, l := range lines {
		mark := style.Span(sign + " ")
		if i > 0 {
			mark = termtext.Plain.Span("  ")
		}
		d.Lines = append(d.Lines, append([]termtext.Span{mark}, l...))
	}
}

// folded splits spans into lines of the given number of columns.
func folded(spans []termtext.Span, columns int) [][]termtext.Span {
	var lines [][]termtext.Span
	var row []termtext.Span
	room := columns
	for _, s := range spans {
		for s.Text != "" {
			if room == 0 {
				lines, row, room = append(lines, row), nil, columns
			}
			head := termtext.Head(s.Text, room)
			if termtext.Width(head) > room && room < columns { // a wide character
				room = 0
				continue
			}
			row = append(row, s.Style.Span(head))
			s.Text, room = s.Text[len(head):], max(room-termtext.Width(head), 0)
		}
	}
	if row != nil {
		lines = append(lines, row)
	}
	return lines
}
