package compare

import "github.com/acptap/acptap/record/linediff"

// A Kind says which sides a row has, and whether they are equal.
type Kind uint8

// The kinds.
const (
	Equal Kind = iota
	Changed
	OnlyOld
	OnlyNew
)

// A Row is a step of one conversation, or a step of each.
type Row struct {
	Kind     Kind
	Old, New int32 // indexes into the Alignment's lists; -1: none
}

// Rows puts the steps of two conversations side by side. Between equal steps it pairs steps
// that are alike.
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

// alone appends the steps up to before and after, each in a row of its own.
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
