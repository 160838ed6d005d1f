package compare

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/linediff"
	"github.com/acptap/acptap/record/termtext"
)

// A Diff has the lines that differ between the outlines of two conversations.
type Diff struct {
	Level Level  `json:"level"`
	Hunks []Hunk `json:"hunks"` // in order; empty: they are the same
}

// A Hunk is a part of a Diff: lines that differ, with up to three equal lines before and
// after them.
type Hunk struct {
	Old int `json:"old"` // number of the first line in the old outline, from 1
	New int `json:"new"` // in the new one

	runs     []run
	old, new *sheet
}

// A run is a range of lines of one outline or of both.
type run struct {
	op      Op
	from, n int // in the new outline if op is New, otherwise in the old one
}

// A Line is a line of one outline or of both.
type Line struct {
	Op   Op     `json:"op"`
	Text string `json:"text"`
}

// An Op says which outline has a line.
type Op byte

// The ops, as in a unified diff.
const (
	Both Op = ' '
	Old  Op = '-'
	New  Op = '+'
)

// MarshalText returns " ", "-" or "+".
func (o Op) MarshalText() ([]byte, error) { return []byte{byte(o)}, nil }

// Same reports whether the conversations are the same.
func (d Diff) Same() bool { return len(d.Hunks) == 0 }

// MarshalJSON returns what WriteJSON writes.
func (d Diff) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := d.WriteJSON(&b)
	return b.Bytes(), err
}

// WriteJSON writes the Diff as a JSON object. A hunk has the array "lines".
func (d Diff) WriteJSON(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `{"level":"%v","hunks":[`, d.Level)
	for i, h := range d.Hunks {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, `{"old":%d,"new":%d,"lines":[`, h.Old, h.New)
		first := true
		for l := range h.Lines {
			if !first {
				b.WriteByte(',')
			}
			first = false
			b.Write(termtext.JSON(wire.Encode(l)))
		}
		b.WriteString("]}")
	}
	b.WriteString("]}")
	return b.Flush()
}

// WriteUnified writes a unified diff, or nothing if there is no difference. It replaces
// control characters by the symbols that Unicode has for them.
func (d Diff) WriteUnified(w io.Writer, oldName, newName string) error {
	b := bufio.NewWriter(w)
	if !d.Same() {
		fmt.Fprintf(b, "--- %s\n+++ %s\n", oldName, newName)
	}
	for _, h := range d.Hunks {
		fmt.Fprintf(b, "@@ -%s +%s @@\n", span(h.Old, h.count(Old)), span(h.New, h.count(New)))
		for l := range h.Lines {
			b.WriteByte(byte(l.Op))
			b.WriteString(printable(l.Text))
			b.WriteByte('\n')
		}
	}
	return b.Flush()
}

// Lines yields the lines of the hunk in order.
func (h Hunk) Lines(yield func(Line) bool) {
	for _, r := range h.runs {
		of := h.old
		if r.op == New {
			of = h.new
		}
		for i := range r.n {
			if !yield(Line{r.op, of.line(r.from + i)}) {
				return
			}
		}
	}
}

// count returns the number of lines in the hunk from one outline.
func (h Hunk) count(side Op) int {
	n := 0
	for _, r := range h.runs {
		if r.op == Both || r.op == side {
			n += r.n
		}
	}
	return n
}

// span returns a range of lines as in a unified diff: an empty range is named by the
// line before it.
func span(first, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, count)
}

// printable makes text safe for a terminal. Unlike termtext.Line it drops nothing, so that
// lines which differ only in a control sequence still look different.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return termtext.Visible(r)
	}, text)
}

// margin is the number of equal lines that a hunk has before and after the lines that
// differ.
const margin = 3

// hunks compares two outlines.
func hunks(a, b *sheet) (list []Hunk) {
	add := func(op Op, from, n int) {
		if last := &list[len(list)-1]; n > 0 {
			last.runs = append(last.runs, run{op, from, n})
		}
	}
	i, j, equal := 0, 0, 0 // the next lines, and how many equal ones are before them
	for _, same := range append(linediff.CommonSums(a.sums, b.sums), linediff.Match{A: len(a.sums), B: len(b.sums)}) {
		if i < same.A || j < same.B {
			if lead := min(margin, equal); len(list) == 0 || equal > 2*margin {
				if len(list) > 0 {
					add(Both, i-equal, margin)
				}
				list = append(list, Hunk{Old: i - lead + 1, New: j - lead + 1, old: a, new: b})
				add(Both, i-lead, lead)
			} else {
				add(Both, i-equal, equal)
			}
			add(Old, i, same.A-i)
			add(New, j, same.B-j)
			equal = 0
		}
		i, j, equal = same.A+same.N, same.B+same.N, equal+same.N
	}
	if len(list) > 0 {
		add(Both, i-equal, min(margin, equal))
	}
	return list
}
