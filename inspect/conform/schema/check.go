package schema

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// Limits of one check; anything beyond them is not judged. A step is a value or
// bytesPerStep skipped bytes. A megabyte at the greatest depth stays within the limits;
// only unions that try their branches over and over exceed them, such as a schema that
// refers to itself twice.
const (
	maxDepth     = 64
	maxSteps     = 1 << 21
	maxProblems  = 100
	bytesPerStep = 64
)

// A checker checks one value.
type checker struct {
	report func(Problem)
	at     [maxDepth]step // the path to the current value
	depth  int
	budget int
	over   bool // stop judging

	trials   int // if positive, problems are counted, not reported
	found    int
	told     int
	lenient  int // number of lenient nodes on the path
	unstable int
}

// A step is one member or element on the path.
type step struct {
	name  []byte // nil for an element
	index int
	rest  wire.Reader // the text after it
	last  last
}

// last says whether this is the last member with its name, as far as known.
type last uint8

const (
	unknown last = iota
	yes
	no
)

func (c *checker) spent() bool {
	if c.budget <= 0 {
		c.over = true
	}
	return c.over
}

// value checks the current value.
func (c *checker) value(n *node, v []byte) {
	c.budget -= 1 + len(v)/bytesPerStep
	if n.any || c.spent() {
		return
	}
	c.lenient += n.lenient
	c.unstable += n.unstable
	if n.union != nil {
		c.union(n, v)
	} else {
		c.joined(n, v)
	}
	c.lenient -= n.lenient
	c.unstable -= n.unstable
}

// joined checks a value against a node without a union.
func (c *checker) joined(n *node, v []byte) {
	t := typeOf(v, n.types&number != number)
	if n.types&t == 0 {
		c.wrongType(n, v)
		return
	}
	if n.enum != nil && !slices.ContainsFunc(n.enum, func(l literal) bool { return l.is(v) }) {
		if c.wrong() {
			c.tell(n, Problem{Kind: NotListed, Want: n.values(), Got: got(v)})
		}
		return
	}
	for _, l := range n.limits {
		if l.of&t != 0 && !l.holds(v) && c.wrong() {
			c.tell(n, Problem{Kind: OutOfRange, Want: l.String(), Got: got(v)})
		}
	}
	for _, not := range n.not {
		if c.try(not, v) == 0 && c.wrong() {
			c.tell(n, Problem{Kind: Forbidden, Got: got(v)})
		}
	}
	switch t {
	case object:
		c.object(n, v)
	case array:
		c.array(n, v)
	}
}

// try returns the number of problems that a value has with n.
func (c *checker) try(n *node, v []byte) int {
	before := c.found
	c.trials++
	c.value(n, v)
	c.trials--
	found := c.found - before
	c.found = before
	return found
}

// enter makes a member or element the current value.
func (c *checker) enter(n *node, v []byte, s step) {
	if n.any {
		return
	}
	if c.depth == maxDepth {
		c.over = true
		return
	}
	c.at[c.depth] = s
	c.depth++
	c.value(n, v)
	c.depth--
}

func (c *checker) object(n *node, v []byte) {
	seen := uint64(0)
	r := wire.Inside(v, '{')
	for name, value, ok := r.Member(); ok && !c.over; name, value, ok = r.Member() {
		of := n.rest
		if p := n.member(name); p != nil {
			of = p.node
			seen |= p.bit
			if n.strict && of.unstable > 0 && c.notes() {
				c.tell(n, Problem{Kind: UnknownKey, Path: string(name), Unstable: true})
			}
		} else if n.strict && !extends(name) && c.notes() {
			c.tell(n, Problem{Kind: UnknownKey, Path: string(name), Removed: slices.Contains(n.removed, string(name)), Other: slices.Contains(n.other, string(name))})
		}
		if of != nil {
			c.enter(of, value, step{name: name, rest: r})
		}
	}
	for _, p := range n.members {
		if p.bit&^seen != 0 && c.wrong() {
			c.tell(n, Problem{Kind: Missing, Path: p.name, Want: p.node.kinds(), Got: "nothing"})
		}
	}
}

// extends reports whether a member is an extension: _meta, or any other name that starts
// with _ (ACP, Extensibility).
func extends(name []byte) bool { return len(name) > 0 && name[0] == '_' }

func (c *checker) array(n *node, v []byte) {
	if n.items == nil && n.prefix == nil {
		return
	}
	c.lenient += n.skips
	for i, element := range wire.Elements(v) {
		if c.over {
			break
		}
		of := n.items
		if i < len(n.prefix) {
			of = n.prefix[i]
		}
		if of != nil {
			c.enter(of, element, step{index: i})
		}
	}
	c.lenient -= n.skips
}
