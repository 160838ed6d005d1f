// Package diffpage lays out two conversations side by side: the steps that package
// compare finds equal, and those that differ, each beside its counterpart. A Reader
// reads both in the background and follows what is being recorded; a View lays out what
// the Reader has found, and folds what is equal.
//
// The package draws nothing. Of a conversation that is very long only the beginning is
// compared, and the page says so.
package diffpage

import (
	"github.com/acptap/acptap/record/linediff"
	"github.com/acptap/acptap/replay/compare"
)

// A Kind says what a row has.
type Kind uint8

// The kinds.
const (
	Equal Kind = iota
	Changed
	OnlyLeft
	OnlyRight
)

// A Row is a step of one conversation, or a step of each.
type Row struct {
	Kind        Kind
	Left, Right int32 // indexes in Old and New of the alignment; -1: none
}

// on returns the index of the step on a side, -1 if there is none.
func (r Row) on(side Side) int {
	if side == Left {
		return int(r.Left)
	}
	return int(r.Right)
}

// rowsOf puts the steps of two conversations beside each other. Between those that are
// equal it pairs those that are alike.
func rowsOf(a *compare.Alignment) []Row {
	l := rowList{rows: make([]Row, 0, max(len(a.Old), len(a.New)))}
	for _, same := range append(a.Same[:len(a.Same):len(a.Same)], linediff.Match{A: len(a.Old), B: len(a.New)}) {
		left, right := l.left, l.right
		for _, p := range pairs(a.Old[left:same.A], a.New[right:same.B]) {
			l.alone(left+p.A, right+p.B)
			l.both(Changed, 1)
		}
		l.alone(same.A, same.B)
		l.both(Equal, same.N)
	}
	return l.rows
}

// A rowList is rows, and the steps that come next.
type rowList struct {
	rows        []Row
	left, right int
}

// alone appends the steps before two others, each in a row of its own.
func (l *rowList) alone(left, right int) {
	for ; l.left < left; l.left++ {
		l.rows = append(l.rows, Row{OnlyLeft, int32(l.left), -1})
	}
	for ; l.right < right; l.right++ {
		l.rows = append(l.rows, Row{OnlyRight, -1, int32(l.right)})
	}
}

// both appends the next n steps of both sides.
func (l *rowList) both(kind Kind, n int) {
	for range n {
		l.rows = append(l.rows, Row{kind, int32(l.left), int32(l.right)})
		l.left, l.right = l.left+1, l.right+1
	}
}
