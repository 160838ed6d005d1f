package filter

import (
	"cmp"
	"slices"
	"strings"
)

// A node is a query, or a part of one in it. Equal nodes are deeply equal.
type node interface {
	fits(*Subject) verdict
	needs() needs
	write(*strings.Builder)
}

// A verdict says whether a frame fits.
type verdict int8

// The verdicts, so that the least of them is that of an and, the greatest that of
// an or.
const (
	no      verdict = iota
	perhaps         // the bytes decide, and they are not at hand
	yes
)

func sure(fits bool) verdict {
	if fits {
		return yes
	}
	return no
}

// needs is what a node looks at beside the fields of the frame.
type needs uint8

const (
	ofBytes needs = 1 << iota
	ofPast
	ofFuture
	ofFindings
	ofSession
)

// all fits where all of its nodes do.
type all struct {
	nodes []node // as written
	order []node // as they are asked
}

// some fits where one of its nodes does.
type some struct {
	nodes []node
	order []node
}

// not fits where its node does not.
type not struct{ node }

// allOf joins nodes, at least one.
func allOf(nodes []node) node {
	var flat []node
	for _, n := range nodes {
		if a, ok := n.(all); ok {
			flat = append(flat, a.nodes...)
		} else {
			flat = append(flat, n)
		}
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return all{flat, cheapFirst(flat)}
}

// someOf joins nodes, at least one.
func someOf(nodes []node) node {
	var flat []node
	for _, n := range nodes {
		if s, ok := n.(some); ok {
			flat = append(flat, s.nodes...)
		} else {
			flat = append(flat, n)
		}
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return some{flat, cheapFirst(flat)}
}

func notOf(n node) node {
	if inner, ok := n.(not); ok {
		return inner.node
	}
	return not{n}
}

// cheapFirst puts what asks for fields only before what reads bytes.
func cheapFirst(nodes []node) []node {
	return slices.SortedStableFunc(slices.Values(nodes), func(a, b node) int {
		return cmp.Compare(a.needs()&ofBytes, b.needs()&ofBytes)
	})
}

func (a all) fits(s *Subject) verdict {
	v := yes
	for _, n := range a.order {
		if v = min(v, n.fits(s)); v == no {
			break
		}
	}
	return v
}

func (a some) fits(s *Subject) verdict {
	v := no
	for _, n := range a.order {
		if v = max(v, n.fits(s)); v == yes {
			break
		}
	}
	return v
}

func (n not) fits(s *Subject) verdict { return yes - n.node.fits(s) }

func (a all) needs() needs  { return needsOf(a.nodes) }
func (a some) needs() needs { return needsOf(a.nodes) }

func needsOf(nodes []node) needs {
	var sum needs
	for _, n := range nodes {
		sum |= n.needs()
	}
	return sum
}

func (a all) write(b *strings.Builder) {
	for i, n := range a.nodes {
		if i > 0 {
			b.WriteByte(' ')
		}
		_, group := n.(some)
		writeNode(b, n, group)
	}
}

func (a some) write(b *strings.Builder) {
	for i, n := range a.nodes {
		if i > 0 {
			b.WriteString(" | ")
		}
		n.write(b)
	}
}

func (n not) write(b *strings.Builder) {
	b.WriteByte('!')
	_, leaf := n.node.(*term)
	writeNode(b, n.node, !leaf)
}

func writeNode(b *strings.Builder, n node, group bool) {
	if group {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	n.write(b)
}
