package schema

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// union checks a value against the branches that its type and tag select.
func (c *checker) union(n *node, v []byte) {
	u := n.union
	t := typeOf(v, true)
	if n.types&t == 0 {
		c.wrongType(n, v)
		return
	}
	if t != object || u.tag == "" {
		c.choose(n, choice{left: u.byType[bits.TrailingZeros8(uint8(t))]}, v)
		return
	}
	tag := wire.Get(v, u.tag)
	switch {
	case len(tag) == 0: // also at the end of broken JSON
		if len(u.untagged) == 0 {
			if c.wrong() {
				c.tell(n, Problem{Kind: Missing, Path: u.tag, Want: u.variants(), Got: "nothing"})
			}
			return
		}
		c.choose(n, choice{left: u.untagged}, v)
	case tag[0] == '"':
		name, _ := wire.Unquote(tag)
		if found, ok := u.tagged[string(name)]; ok {
			c.choose(n, found, v)
			return
		}
		c.other(n, v, tag, Problem{Kind: UnknownVariant})
	default:
		c.other(n, v, tag, Problem{Kind: WrongType})
	}
}

// other checks a value whose tag selects no branch. The tag is wrong if no branch
// remains, or if no remaining branch knows the tag or fits.
func (c *checker) other(n *node, v, tag []byte, wrong Problem) {
	u := n.union
	if !slices.ContainsFunc(u.others, func(b *node) bool { return b.knows(u.tag) || c.try(b, v) == 0 }) {
		if c.wrong() {
			wrong.Path, wrong.Want, wrong.Got = u.tag, u.variants(), got(tag)
			c.tell(n, wrong)
		}
		return
	}
	c.choose(n, choice{left: u.others}, v)
}

// choose checks a value against the remaining branches. If none fits, it reports the one
// with the fewest problems; if some name the tag, only these count.
func (c *checker) choose(n *node, left choice, v []byte) {
	if len(left.left) == 1 {
		c.value(left.left[0], v)
		return
	}
	var fit, nearest *node
	fits, fewest := 0, 0
	for i, b := range left.left {
		found := c.try(b, v)
		switch {
		case found == 0:
			fit = b
			fits++
		case left.named > 0 && i >= left.named:
		case fewest == 0 || found < fewest:
			nearest, fewest = b, found
		case found == fewest:
			nearest = nil
		}
	}
	switch {
	case fits > 1 && n.union.one:
		if c.wrong() {
			c.tell(n, Problem{Kind: NoBranch, Want: "only one of " + names(left.left), Got: got(v)})
		}
	case fits > 1, c.trials > 0 && fits == 1:
	case fits == 1:
		c.value(fit, v) // again, to report remarks other than problems
	case nearest == nil && c.trials == 0 && c.agree(left.left, v):
		c.value(left.left[0], v)
	case nearest == nil:
		if c.wrong() {
			c.tell(n, Problem{Kind: NoBranch, Want: names(left.left), Got: got(v)})
		}
	case c.trials > 0:
		c.found += fewest
	default:
		c.value(nearest, v)
	}
}

// agree reports whether all branches find the same problems in a value.
func (c *checker) agree(branches []*node, v []byte) bool {
	tell, told := c.report, c.told
	var first []Problem
	same := true
	for i, b := range branches {
		var found []Problem
		c.report = func(p Problem) {
			if p.Kind != UnknownKey {
				found = append(found, Problem{Kind: p.Kind, Path: p.Path})
			}
		}
		c.value(b, v)
		if i == 0 {
			first = found
		}
		same = same && slices.Equal(first, found)
	}
	c.report, c.told = tell, told
	return same
}

func (c *checker) wrongType(n *node, v []byte) {
	if !c.wrong() {
		return
	}
	p := Problem{Kind: WrongType, Want: n.kinds(), Got: got(v)}
	switch nothing := len(v) == 0; {
	case n.types == 0:
		p.Kind = Forbidden
	case (nothing || v[0] == 'n') && n.types&object != 0 && n.union == nil && n.wanted == 0:
		p.Kind = Null
	case nothing:
		p.Kind = Missing
	}
	c.tell(n, p)
}

// kinds names a value's types.
func (n *node) kinds() string {
	if n.types == anyType {
		return "any value"
	}
	return n.types.String()
}

// values lists an enumeration.
func (n *node) values() string {
	var list []string
	for _, l := range n.enum {
		list = append(list, l.text)
	}
	return strings.Join(list, " or ")
}

// variants lists the tag's values.
func (u *union) variants() string { return strings.Join(u.values, " or ") }

// knows reports whether n has a member.
func (n *node) knows(member string) bool {
	if n.union != nil {
		return slices.ContainsFunc(n.union.branches, func(b *node) bool { return b.knows(member) })
	}
	return n.member([]byte(member)) != nil
}

// names lists the branches' names.
func names(branches []*node) string {
	var list []string
	for _, b := range branches {
		if b.name != "" {
			list = append(list, b.name)
		} else {
			list = append(list, b.kinds())
		}
	}
	return strings.Join(list, " or ")
}
