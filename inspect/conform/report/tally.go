package report

import (
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/termtext"
)

// A Tally counts findings by strength.
type Tally [conform.Violation + 1]int

// Total returns the number of findings.
func (t *Tally) Total() (n int) {
	for _, of := range t {
		n += of
	}
	return n
}

// Weakest returns the lowest strength among the findings.
func (t *Tally) Weakest() conform.Strength {
	for s := conform.Note; s <= conform.Violation; s++ {
		if t[s] > 0 {
			return s
		}
	}
	return conform.None
}

// Counted returns a number of findings of one strength, such as 2 violations or 1 that
// hurts.
func Counted(n int, s conform.Strength) string {
	switch {
	case s != conform.Hurts:
		return termtext.Counted(n, s.String())
	case n == 1:
		return "1 that hurts"
	}
	return termtext.Grouped(int64(n)) + " that hurt"
}

// String lists the counts, greatest strength first, such as 2 violations and 8 notes.
func (t *Tally) String() string {
	var parts []string
	for s := conform.Violation; s >= conform.Note; s-- {
		if t[s] > 0 {
			parts = append(parts, Counted(t[s], s))
		}
	}
	switch n := len(parts) - 1; {
	case n < 0:
		return "nothing found"
	case n > 0:
		return strings.Join(parts[:n], ", ") + " and " + parts[n]
	}
	return parts[0]
}
