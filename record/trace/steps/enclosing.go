package steps

import (
	"cmp"
	"slices"
)

// A Range is the time or the frames from the beginning to the end of a tool call.
type Range[T cmp.Ordered] struct {
	From, To T
	Index    int // the caller's number for the tool call
}

// Enclosing finds the tool call that contains an agent's request, for requests that name none.
type Enclosing[T cmp.Ordered] struct {
	ranges []Range[T] // by From
	latest []latest[T]
}

// latest holds the two latest ends among the first ranges.
type latest[T cmp.Ordered] struct {
	index         int // of the range that ends at first
	first, second T
}

// NewEnclosing returns an Enclosing of ranges, which it sorts.
func NewEnclosing[T cmp.Ordered](ranges []Range[T]) Enclosing[T] {
	slices.SortFunc(ranges, func(a, b Range[T]) int { return cmp.Compare(a.From, b.From) })
	e := Enclosing[T]{ranges, make([]latest[T], len(ranges))}
	for i, r := range ranges {
		next := latest[T]{r.Index, r.To, r.To}
		if i > 0 {
			before := e.latest[i-1]
			switch {
			case r.To > before.first:
				next.second = before.first
			case i == 1 || r.To > before.second:
				next = latest[T]{before.index, before.first, r.To}
			default:
				next = before
			}
		}
		e.latest[i] = next
	}
	return e
}

// Only returns the index of the only range that contains [from, to]. It returns
// -1 if there is none or more than one.
func (e *Enclosing[T]) Only(from, to T) int {
	n, _ := slices.BinarySearchFunc(e.ranges, from, func(r Range[T], from T) int {
		if r.From <= from {
			return -1
		}
		return 1
	})
	if n == 0 {
		return -1
	}
	if l := e.latest[n-1]; l.first >= to && (n == 1 || l.second < to) {
		return l.index
	}
	return -1
}
