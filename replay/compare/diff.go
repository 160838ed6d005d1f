package compare

import (
	"bufio"
	"fmt"
	"io"
	"strings"

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
	Old   int    `json:"old"` // number of the first line in the old outline, from 1
	New   int    `json:"new"` // in the new one
	Lines []Line `json:"lines"`
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

// WriteUnified writes a unified diff, or nothing if there is no difference. It replaces
// control characters by the symbols that Unicode has for them.
func (d Diff) WriteUnified(w io.Writer, oldName, newName string) error {
	b := bufio.NewWriter(w)
	if !d.Same() {
		fmt.Fprintf(b, "--- %s\n+++ %s\n", oldName, newName)
	}
	for _, h := range d.Hunks {
		fmt.Fprintf(b, "@@ -%s +%s @@\n", span(h.Old, h.count(Old)), span(h.New, h.count(New)))
		for _, l := range h.Lines {
			b.WriteByte(byte(l.Op))
			b.WriteString(printable(l.Text))
			b.WriteByte('\n')
		}
	}
	return b.Flush()
}

// count returns how many lines of one outline are in the hunk.
func (h Hunk) count(side Op) int {
	n := 0
	for _, l := range h.Lines {
		if l.Op == Both || l.Op == side {
			n++
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

// margin is how many equal lines a hunk has before and after the lines that differ.
const margin = 3

// hunks compares two lists of lines. It never returns nil: nil would be null in JSON, not
// an array.
func hunks(a, b []string) []Hunk {
	list := []Hunk{}
	var cut *Hunk
	quiet := 0 // equal lines at the end of cut
	i, j := 0, 0
	next := func(l Line) {
		if cut != nil {
			cut.Lines = append(cut.Lines, l)
		}
		if l.Op != New {
			i++
		}
		if l.Op != Old {
			j++
		}
	}
	for _, same := range append(linediff.Common(a, b), linediff.Match{A: len(a), B: len(b)}) {
		if i < same.A || j < same.B {
			quiet = 0
			if cut == nil {
				lead := min(margin, i, j)
				list = append(list, Hunk{Old: i - lead + 1, New: j - lead + 1})
				cut = &list[len(list)-1]
				for _, text := range a[i-lead : i] {
					cut.Lines = append(cut.Lines, Line{Both, text})
				}
			}
		}
		for i < same.A {
			next(Line{Old, a[i]})
		}
		for j < same.B {
			next(Line{New, b[j]})
		}
		for range same.N {
			next(Line{Both, a[i]})
			if quiet++; cut != nil && quiet > 2*margin {
				cut.Lines = cut.Lines[:len(cut.Lines)-quiet+margin]
				cut = nil
			}
		}
	}
	if cut != nil && quiet > margin {
		cut.Lines = cut.Lines[:len(cut.Lines)-quiet+margin]
	}
	return list
}
