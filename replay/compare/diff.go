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

// count returns the number of lines in the hunk from one outline.
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

// margin is the number of equal lines that a hunk has before and after the lines that
// differ.
const margin = 3

// hunks compares two lists of lines. It never returns nil: nil would be null in JSON, not
// an array.
func hunks(a, b []string) []Hunk {
	list := []Hunk{}
	lines := linediff.Lines(a, b)
	end := -1        // of the last hunk
	old, new := 1, 1 // numbers of line i
	for i, text := range lines {
		op := Op(text[0])
		if op != Both {
			if lead := min(margin, i); i-lead > end {
				list = append(list, Hunk{Old: old - lead, New: new - lead})
				end = i - lead
			}
			cut := &list[len(list)-1]
			for ; end < min(i+1+margin, len(lines)); end++ {
				cut.Lines = append(cut.Lines, Line{Op(lines[end][0]), lines[end][1:]})
			}
		}
		if op != New {
			old++
		}
		if op != Old {
			new++
		}
	}
	return list
}
