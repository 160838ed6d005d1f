package compare

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/record/linediff"
	"github.com/acptap/acptap/record/termtext"
)

// A Kind says which sides a row has, and whether they are equal.
type Kind uint8

// The kinds.
const (
	Equal Kind = iota
	Changed
	OnlyOld
	OnlyNew
)

// A Row is a step of one conversation, or one step of each.
type Row struct {
	Kind     Kind
	Old, New int32 // indexes into the Alignment's lists; -1: none
}

// Rows puts the steps of two conversations side by side. Between equal steps it pairs
// similar ones.
func (a *Alignment) Rows() []Row {
	l := rowList{rows: make([]Row, 0, max(len(a.Old), len(a.New)))}
	for _, same := range append(a.Same[:len(a.Same):len(a.Same)], linediff.Match{A: len(a.Old), B: len(a.New)}) {
		before, after := l.before, l.after
		for _, p := range pairs(a.Old[before:same.A], a.New[after:same.B]) {
			l.alone(before+p.A, after+p.B)
			l.both(Changed, 1)
		}
		l.alone(same.A, same.B)
		l.both(Equal, same.N)
	}
	return l.rows
}

// A rowList has the rows so far, and the indexes of the next steps.
type rowList struct {
	rows          []Row
	before, after int
}

// alone appends the steps up to before and after, each in its own row.
func (l *rowList) alone(before, after int) {
	for ; l.before < before; l.before++ {
		l.rows = append(l.rows, Row{OnlyOld, int32(l.before), -1})
	}
	for ; l.after < after; l.after++ {
		l.rows = append(l.rows, Row{OnlyNew, -1, int32(l.after)})
	}
}

// both appends the next n steps of both sides.
func (l *rowList) both(kind Kind, n int) {
	for range n {
		l.rows = append(l.rows, Row{kind, int32(l.before), int32(l.after)})
		l.before, l.after = l.before+1, l.after+1
	}
}

// A Stretch is a range of adjacent rows that are all equal or all different.
type Stretch struct {
	From, To int // rows; To is exclusive
	Equal    bool

	// The rows from Fold to Unfold are equal and need not be shown. Fold and Unfold are
	// the same if no row is hidden.
	Fold, Unfold int
}

// Stretches divides rows into stretches. Next to a difference it keeps margin equal rows
// visible.
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

// fold hides rows that are not next to a difference, unless it would hide only one: the
// line replacing it would take as much room.
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

// Summary says how often the conversations differ, and in how many rows of each kind. old
// and new name the two sides.
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
