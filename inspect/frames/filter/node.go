package filter

import (
	"cmp"
	"slices"
	"strings"
)

// A node is a query or a part of one.
type node interface {
	fits(*Subject) verdict
	needs() needs
	write(*strings.Builder)
}

// A verdict says whether a frame matches.
type verdict int8

// The verdicts are ordered: "and" returns the lowest of its nodes' verdicts, "or" the
// highest.
const (
	no      verdict = iota
	perhaps         // depends on the bytes, which are not available
	yes
)

func sure(fits bool) verdict {
	if fits {
		return yes
	}
	return no
}

// needs lists what a node reads besides the frame's fields.
type needs uint8

const (
	ofBytes needs = 1 << iota
	ofPast
	ofFuture
	ofFindings
	ofSession
)

// A group matches if all of its nodes do or, if any is set, if one does.
type group struct {
	any   bool
	nodes []node // as written
	order []node // in the order of evaluation
}

// not matches if its node does not.
type not struct{ node }

// grouped returns a group of at least one node.
func grouped(any bool, nodes []node) node {
	var flat []node
	for _, n := range nodes {
		if g, ok := n.(group); ok && g.any == any {
			flat = append(flat, g.nodes...)
		} else {
			flat = append(flat, n)
		}
	}
	if len(flat) == 1 {
		return flat[0]
	}
	// Nodes that need only fields go before those that read bytes.
	order := slices.SortedStableFunc(slices.Values(flat), func(a, b node) int { return cmp.Compare(a.needs()&ofBytes, b.needs()&ofBytes) })
	return group{any, flat, order}
}

func notOf(n node) node {
	if inner, ok := n.(not); ok {
		return inner.node
	}
	return not{n}
}

func (g group) fits(s *Subject) verdict {
	v, decided := yes, no
	if g.any {
		v, decided = no, yes
	}
	for _, n := range g.order {
		if one := n.fits(s); g.any == (one > v) {
			v = one
		}
		if v == decided {
			break
		}
	}
	return v
}

func (n not) fits(s *Subject) verdict { return yes - n.node.fits(s) }

func (g group) needs() (sum needs) {
	for _, n := range g.nodes {
		sum |= n.needs()
	}
	return sum
}

func (g group) write(b *strings.Builder) {
	between := " "
	if g.any {
		between = " | "
	}
	for i, n := range g.nodes {
		if i > 0 {
			b.WriteString(between)
		}
		_, inner := n.(group)
		writeNode(b, n, inner && !g.any)
	}
}

func (n not) write(b *strings.Builder) {
	b.WriteByte('!')
	_, leaf := n.node.(*term)
	writeNode(b, n.node, !leaf)
}

func writeNode(b *strings.Builder, n node, bracketed bool) {
	if bracketed {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	n.write(b)
}
