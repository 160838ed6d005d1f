package schema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A node describes what a value must be. It joins parts that all apply. It is either a
// union, whose branches include its siblings' requirements, or contains none, so checking
// a value takes one pass.
type node struct {
	name  string // of the definition with the most members, such as ToolCallUpdate
	union *union

	types   types
	enum    []literal // nil: any value
	limits  []limit
	not     []*node
	members []property
	index   map[string]int // of members, if there are many
	wanted  uint64         // a bit for each required member
	rest    *node          // for unlisted members; nil: any
	strict  bool           // unlisted members are unknown, though not forbidden
	prefix  []*node
	items   *node // for elements after prefix; nil: any

	lenient, skips, unstable int // 1: true, as in part
	removed, other           []string

	any      bool // everything fits, without remarks
	building bool
}

type property struct {
	name string
	node *node
	bit  uint64 // in wanted; 0: optional
}

// maxNodes limits the nodes of one schema, maxWanted the required members of one object.
const (
	maxNodes  = 8_000
	maxWanted = 64
)

// A joiner makes nodes from parts.
type joiner struct {
	made   map[string]*node // by the parts' IDs
	strict bool             // objects list all their members
}

// join returns the node that joins some parts.
func (j *joiner) join(parts ...*part) (*node, error) { return j.joinFlat(flat(nil, parts)) }

// joinFlat is join for parts returned by flat.
func (j *joiner) joinFlat(parts []*part) (*node, error) {
	key := keyOf(parts)
	if n := j.made[key]; n != nil {
		return n, nil
	}
	if len(j.made) >= maxNodes {
		return nil, fmt.Errorf("more than %d shapes", maxNodes)
	}
	n := &node{types: anyType, building: true}
	j.made[key] = n
	most := 0 // members of the definition that names n
	for _, p := range parts {
		n.lenient = max(n.lenient, one(p.lenient))
		n.skips = max(n.skips, one(p.skips))
		n.unstable = max(n.unstable, one(p.unstable))
		if p.name != "" && (n.name == "" || len(p.members) > most) {
			n.name, most = p.name, len(p.members)
		}
	}
	var err error
	if i := slices.IndexFunc(parts, func(p *part) bool { return p.union != nil }); i >= 0 {
		err = j.branches(n, parts[i], slices.Delete(slices.Clone(parts), i, i+1))
	} else {
		err = j.fill(n, parts)
	}
	n.building = false
	return n, err
}

func one(so bool) int {
	if so {
		return 1
	}
	return 0
}

// flat adds the parts and all others that apply with them, each once.
func flat(list, parts []*part) []*part {
	for _, p := range parts {
		if !slices.Contains(list, p) {
			list = flat(append(list, p), p.all)
		}
	}
	return list
}

func keyOf(parts []*part) string {
	ids := make([]int, len(parts))
	for i, p := range parts {
		ids[i] = p.id
	}
	slices.Sort(ids)
	var key strings.Builder
	for _, id := range ids {
		key.WriteString(strconv.Itoa(id) + " ")
	}
	return key.String()
}

// fill joins parts, none of which is a union.
func (j *joiner) fill(n *node, parts []*part) (err error) {
	listed, open := false, false
	for _, p := range parts {
		n.types &= p.types
		n.enum = common(n.enum, p.enum)
		n.limits = append(n.limits, p.limits...)
		n.removed = append(n.removed, p.removed...)
		n.other = append(n.other, p.other...)
		listed = listed || len(p.members) > 0
		open = open || p.open
		for _, not := range p.not {
			of, err := j.join(not)
			if err != nil {
				return err
			}
			n.not = append(n.not, of)
		}
	}
	n.strict = j.strict && listed && !open
	if n.enum != nil {
		n.enum = slices.DeleteFunc(n.enum, func(l literal) bool { return n.types&l.of == 0 })
		n.types = 0
		for _, l := range n.enum {
			n.types |= l.of
		}
	}
	if err := j.elements(n, parts); err != nil {
		return err
	}
	if err := j.properties(n, parts); err != nil {
		return err
	}
	n.any = n.types == anyType && n.plain()
	return nil
}

// elements joins the parts' requirements for array elements.
func (j *joiner) elements(n *node, parts []*part) (err error) {
	var rest []*part
	longest := 0
	for _, p := range parts {
		longest = max(longest, len(p.prefix))
		if p.items != nil {
			rest = append(rest, p.items)
		}
	}
	for i := range longest {
		var at []*part
		for _, p := range parts {
			if i < len(p.prefix) {
				at = append(at, p.prefix[i])
			} else if p.items != nil {
				at = append(at, p.items)
			}
		}
		of, err := j.join(at...)
		if err != nil {
			return err
		}
		n.prefix = append(n.prefix, of)
	}
	if rest != nil {
		n.items, err = j.join(rest...)
	}
	return err
}

// properties joins the parts' requirements for object members.
func (j *joiner) properties(n *node, parts []*part) (err error) {
	var names, required []string
	var rest []*part
	for _, p := range parts {
		for _, m := range p.members {
			names = append(names, m.name)
		}
		required = append(required, p.required...)
		if p.additional != nil {
			rest = append(rest, p.additional)
		}
	}
	if rest != nil {
		if n.rest, err = j.join(rest...); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(names, required) {
		if slices.ContainsFunc(n.members, func(p property) bool { return p.name == name }) {
			continue
		}
		p := property{name: name}
		if p.node, err = j.join(of(parts, name)...); err != nil {
			return err
		}
		n.members = append(n.members, p)
	}
	return n.want(required)
}

// of returns the parts that apply to a member.
func of(parts []*part, name string) (all []*part) {
	for _, p := range parts {
		listed := false
		for _, m := range p.members {
			if m.name == name {
				all, listed = append(all, m.part), true
			}
		}
		if !listed && p.additional != nil {
			all = append(all, p.additional)
		}
	}
	return all
}

func (n *node) want(required []string) error {
	bit := uint64(1)
	for i := range n.members {
		p := &n.members[i]
		if !slices.Contains(required, p.name) {
			continue
		}
		if bit == 0 {
			return errors.New("more than 64 members are required")
		}
		p.bit, n.wanted, bit = bit, n.wanted|bit, bit<<1
	}
	if len(n.members) > 8 {
		n.index = make(map[string]int, len(n.members))
		for i, p := range n.members {
			n.index[p.name] = i
		}
	}
	return nil
}

// member returns a listed member, or nil if there is none.
func (n *node) member(name []byte) *property {
	if n.index != nil {
		if i, ok := n.index[string(name)]; ok {
			return &n.members[i]
		}
		return nil
	}
	for i := range n.members {
		if n.members[i].name == string(name) {
			return &n.members[i]
		}
	}
	return nil
}
