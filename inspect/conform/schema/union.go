package schema

import (
	"errors"
	"math/bits"
	"slices"
)

// A union is an anyOf or oneOf: a value must fit at least one branch, or exactly one. The
// type of the value, or the text of one member, the tag, selects the branches to try.
type union struct {
	one      bool
	branches []*node
	byType   [8][]*node // by the bit of the type; objects only if there is no tag

	tag      string
	tagged   map[string]choice // by the tag's text
	untagged []*node           // where there is no tag
	others   []*node           // where the tag is any other value
	values   []string          // named by the branches, in order
}

// A choice holds the branches for one text of the tag; those that name it come first.
type choice struct {
	left  []*node
	named int
}

// branches makes n the union u, joined with its sibling parts.
func (j *joiner) branches(n *node, u *part, beside []*part) error {
	n.union = &union{one: u.one}
	n.types = 0
	for _, p := range u.union {
		if slices.Contains(flat(nil, []*part{p}), u) {
			return errors.New("a union has itself for a branch")
		}
		b, err := j.joinFlat(flat(slices.Clone(beside), []*part{p}))
		switch {
		case err != nil:
			return err
		case b.building:
			return errors.New("a union has itself for a branch")
		case b.types == 0: // nothing fits it
			continue
		}
		n.types |= b.types
		n.union.branches = append(n.union.branches, b)
	}
	switch {
	case n.listsValues():
	case !u.one && slices.ContainsFunc(n.union.branches, func(b *node) bool { return b.any }):
		n.union, n.any = nil, true
	default:
		n.union.sort()
	}
	return nil
}

// listsValues makes n an enumeration if its branches only list values.
func (n *node) listsValues() bool {
	var all []literal
	for _, b := range n.union.branches {
		if b.enum == nil || b.limits != nil || b.not != nil || b.union != nil {
			return false
		}
		for _, l := range b.enum {
			if slices.ContainsFunc(all, l.equal) {
				return false
			}
			all = append(all, l)
		}
	}
	n.enum, n.union = all, nil
	return true
}

// sort prepares a branch's choice.
func (u *union) sort() {
	for i := range u.byType {
		t := types(1) << i
		for _, b := range u.branches {
			if b.types&t == 0 {
				continue
			}
			if !u.one && t != object && b.plain() { // the others add nothing
				u.byType[i] = []*node{b}
				break
			}
			u.byType[i] = append(u.byType[i], b)
		}
	}
	u.chooseTag()
	if u.tag == "" {
		return
	}
	u.tagged = map[string]choice{}
	for _, b := range u.byType[objectIndex] {
		values, _ := b.tags(u.tag)
		for _, v := range values {
			if _, ok := u.tagged[v]; !ok {
				u.values = append(u.values, v)
				u.tagged[v] = u.choose(v)
			}
		}
	}
	for _, b := range u.byType[objectIndex] {
		values, required := b.tags(u.tag)
		if !required {
			u.untagged = append(u.untagged, b)
		}
		if values == nil {
			u.others = append(u.others, b)
		}
	}
}

var objectIndex = bits.TrailingZeros8(uint8(object))

// plain reports whether n only restricts types.
func (n *node) plain() bool {
	return n.union == nil && n.enum == nil && n.limits == nil && n.not == nil && n.members == nil &&
		n.rest == nil && n.prefix == nil && n.items == nil
}

// chooseTag finds the member whose text distinguishes the most branches.
func (u *union) chooseTag() {
	most := 0
	for _, b := range u.branches {
		if b.types&object == 0 {
			continue
		}
		for _, name := range b.names() {
			told := 0
			for _, b := range u.byType[objectIndex] {
				if values, required := b.tags(name); values != nil {
					told++
					if required {
						told++
					}
				}
			}
			if told > most {
				u.tag, most = name, told
			}
		}
	}
}

func (u *union) choose(value string) (c choice) {
	var rest []*node
	for _, b := range u.byType[objectIndex] {
		values, _ := b.tags(u.tag)
		switch {
		case slices.Contains(values, value):
			c.left = append(c.left, b)
		case values == nil && !b.excludes(u.tag, value):
			rest = append(rest, b)
		}
	}
	c.named = len(c.left)
	c.left = append(c.left, rest...)
	return c
}

// names returns the names of members that n knows.
func (n *node) names() (names []string) {
	if n.union != nil {
		for _, b := range n.union.branches {
			names = append(names, b.names()...)
		}
	}
	for _, p := range n.members {
		names = append(names, p.name)
	}
	return names
}

// tags returns the texts allowed for a member, nil if it may be anything else, and
// whether it is required.
func (n *node) tags(name string) (values []string, required bool) {
	if n.union != nil {
		return n.union.tags(name)
	}
	p := n.member([]byte(name))
	if p == nil {
		return nil, false
	}
	for _, l := range p.node.enum {
		if l.of != str {
			return nil, p.bit != 0
		}
		values = append(values, l.text)
	}
	return values, p.bit != 0
}

func (u *union) tags(name string) (values []string, required bool) {
	required, free := true, false
	for _, b := range u.branches {
		if b.types&object == 0 {
			continue
		}
		v, r := b.tags(name)
		values, required = append(values, v...), required && r
		free = free || v == nil
	}
	if free {
		return nil, required
	}
	return values, required
}

// excludes reports whether n forbids a text of a member, as the branch for all other
// variants does.
func (n *node) excludes(name, value string) bool {
	for _, not := range n.not {
		branches := []*node{not}
		if not.union != nil && !not.union.one {
			branches = not.union.branches
		}
		for _, b := range branches {
			values, required := b.tags(name)
			if required && b.onlyMember() && slices.Contains(values, value) {
				return true
			}
		}
	}
	return false
}

// onlyMember reports whether n only restricts one member of an object.
func (n *node) onlyMember() bool {
	return n.union == nil && n.types&object != 0 && n.limits == nil && n.not == nil && len(n.members) == 1 && n.rest == nil
}
