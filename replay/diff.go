package replay

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// A Diff is what differs between two conversations, line by line of their
// outlines.
type Diff struct {
	Level Level  `json:"level"`
	Hunks []Hunk `json:"hunks"` // in order; empty: they are the same
}

// A Hunk is a stretch of a Diff: lines that differ, with up to three lines
// around them that do not.
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

// An Op says whose line it is.
type Op byte

// The ops, as a unified diff writes them.
const (
	Both Op = ' '
	Old  Op = '-'
	New  Op = '+'
)

// MarshalText returns " ", "-" or "+".
func (o Op) MarshalText() ([]byte, error) { return []byte{byte(o)}, nil }

// Same reports whether there is no difference.
func (d Diff) Same() bool { return len(d.Hunks) == 0 }

// WriteUnified writes a unified diff, nothing if there is no difference. Control
// characters are written as the pictures that Unicode has for them.
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

// span writes a range of lines. An empty one is named by the line before it.
func span(first, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, count)
}

// printable makes text from the wire safe for a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' && r != '\t':
			return '␀' + r
		case r == 0x7f:
			return '␡'
		case unicode.IsControl(r) && r != '\t', unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// margin is how many equal lines a hunk has around what differs.
const margin = 3

// hunks compares two lists of lines. What it returns is not nil, as programs
// that read it as JSON want to go over it.
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
	for _, same := range append(common(a, b), match{len(a), len(b), 0}) {
		if i < same.a || j < same.b {
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
		for i < same.a {
			next(Line{Old, a[i]})
		}
		for j < same.b {
			next(Line{New, b[j]})
		}
		for range same.n {
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

// A match says that n lines from a and from b on are equal.
type match struct{ a, b, n int }

// common returns a longest common subsequence of two lists of lines, in order,
// unless the lists differ so much that finding it would take too long; then it
// is just a common one.
func common(a, b []string) []match {
	number := make(map[string]int)
	intern := func(lines []string) []int {
		list := make([]int, len(lines))
		for i, line := range lines {
			n, ok := number[line]
			if !ok {
				n = len(number)
				number[line] = n
			}
			list[i] = n
		}
		return list
	}
	c := comparison{a: intern(a), b: intern(b)}
	c.compare(0, len(a), 0, len(b))
	return c.found
}

// A comparison finds the shortest edit script by E. W. Myers, «An O(ND)
// difference algorithm and its variations», 1986, in the variant of section 4b
// that divides and needs linear memory.
type comparison struct {
	a, b        []int
	forth, back []int // memory of middle: furthest x on each diagonal, from the beginning and from the end
	found       []match
}

// maxEdits bounds the search for one point of the path, which takes time and
// memory with its square. Beyond it the stretch counts as replaced.
const maxEdits = 4096

// compare adds what a[lo:hi] and b[from:to] have in common.
func (c *comparison) compare(lo, hi, from, to int) {
	n := 0
	for lo+n < hi && from+n < to && c.a[lo+n] == c.b[from+n] {
		n++
	}
	c.add(match{lo, from, n})
	lo, from = lo+n, from+n
	n = 0
	for lo < hi-n && from < to-n && c.a[hi-1-n] == c.b[to-1-n] {
		n++
	}
	hi, to = hi-n, to-n
	if lo < hi && from < to {
		if x, y, ok := c.middle(lo, hi, from, to); ok {
			c.compare(lo, x, from, y)
			c.compare(x, hi, y, to)
		}
	}
	c.add(match{hi, to, n})
}

func (c *comparison) add(m match) {
	if m.n == 0 {
		return
	}
	if k := len(c.found) - 1; k >= 0 && c.found[k].a+c.found[k].n == m.a && c.found[k].b+c.found[k].n == m.b {
		c.found[k].n += m.n
		return
	}
	c.found = append(c.found, m)
}

// middle returns a point of a shortest path from (lo, from) to (hi, to) that is
// neither of both; the lines at both ends must differ. ok is false if the search
// took too long.
func (c *comparison) middle(lo, hi, from, to int) (x, y int, ok bool) {
	n, m := hi-lo, to-from
	limit := min((n+m+1)/2, maxEdits)
	forth, back := c.diagonals(2*limit + 3)
	// A diagonal is x-y. The paths from the end count x and y from there, so
	// that their diagonal k is this one's delta-k.
	delta, zero := n-m, limit+1
	for d := range limit + 1 {
		low, high := -d+2*max(0, d-m), d-2*max(0, d-n) // others have left the rectangle
		for k := low; k <= high; k += 2 {
			x := advance(forth, zero, d, k)
			for x < n && x-k < m && c.a[lo+x] == c.b[from+x-k] {
				x++
			}
			forth[zero+k] = x
			if r := delta - k; delta%2 != 0 && -d < r && r < d && x+back[zero+r] >= n {
				return lo + x, from + x - k, true
			}
		}
		for k := low; k <= high; k += 2 {
			x := advance(back, zero, d, k)
			for x < n && x-k < m && c.a[hi-1-x] == c.b[to-1-x+k] {
				x++
			}
			back[zero+k] = x
			if r := delta - k; delta%2 == 0 && -d <= r && r <= d && x+forth[zero+r] >= n {
				return hi - x, to - x + k, true
			}
		}
	}
	return 0, 0, false
}

// diagonals returns the two lists, made of zeros.
func (c *comparison) diagonals(n int) (forth, back []int) {
	if len(c.forth) < n {
		c.forth, c.back = make([]int, n), make([]int, n)
	}
	forth, back = c.forth[:n], c.back[:n]
	clear(forth)
	clear(back)
	return forth, back
}

// advance returns where the d-th edit gets to on diagonal k, from the better of
// its two neighbours.
func advance(furthest []int, zero, d, k int) int {
	left, right := furthest[zero+k-1], furthest[zero+k+1]
	if k == -d || k != d && left < right {
		return right
	}
	return left + 1
}
