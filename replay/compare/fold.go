package compare

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// A Stretch is a range of adjacent rows that are all equal or all different.
type Stretch struct {
	From, To int // rows; To is exclusive
	Equal    bool

	// The rows from Fold to Unfold need not be shown, as they are equal. Fold and Unfold
	// are the same if no row is hidden.
	Fold, Unfold int
}

// Stretches divides rows. Next to a difference it shows margin equal rows.
func Stretches(rows []Row, margin int) []Stretch {
	var list []Stretch
	for from, to := 0, 0; from < len(rows); from = to {
		for to = from + 1; to < len(rows) && (rows[to].Kind == Equal) == (rows[from].Kind == Equal); {
			to++
		}
		s := Stretch{From: from, To: to, Equal: rows[from].Kind == Equal, Fold: to, Unfold: to}
		if s.Equal {
			s.fold(len(rows), margin)
		}
		list = append(list, s)
	}
	return list
}

// fold hides rows that are not next to a difference, unless it would hide only one: a line
// that replaces it would gain nothing.
func (s *Stretch) fold(rows, margin int) {
	first, last := s.From, s.To
	if first > 0 {
		first += margin
	}
	if last < rows {
		last -= margin
	}
	if last-first >= 2 {
		s.Fold, s.Unfold = first, last
	}
}

// Summary says how much differs: how often, and how many rows of each kind. old and new
// name the two sides.
func Summary(rows []Row, old, new string) string {
	var counts [OnlyNew + 1]int
	for _, r := range rows {
		counts[r.Kind]++
	}
	differences := 0
	for _, s := range Stretches(rows, 0) {
		if !s.Equal {
			differences++
		}
	}
	if differences == 0 {
		return "no difference"
	}
	var parts []string
	for kind, word := range [...]string{Changed: "changed", OnlyOld: "only " + old, OnlyNew: "only " + new} {
		if n := counts[kind]; word != "" && n > 0 {
			parts = append(parts, fmt.Sprint(termtext.Grouped(int64(n)), " ", word))
		}
	}
	return termtext.Counted(differences, "difference") + ": " + strings.Join(parts, ", ")
}
