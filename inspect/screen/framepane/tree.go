package framepane

import (
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A tree is a JSON value as nodes in text order. It is built in one pass without
// recursion, so no depth of nesting can crash the process.
type tree struct {
	json  []byte
	nodes []node
}

// A node is a value in a tree.
type node struct {
	name, nameEnd int32 // for a member: the range of its name in the text, with quotes; otherwise equal
	from, to      int32 // range of the value
	parent        int32 // index in nodes; -1 for the root
	end           int32 // index after the last node within it
	children      int32
	index         int32 // among its parent's children
	depth         int32
}

// newTree parses JSON, which must be valid or completed.
func newTree(json []byte) *tree {
	t := &tree{json: json}
	parent := int32(-1)
	name, nameEnd := int32(0), int32(0)
	r := wire.Reader{Text: json}
	for {
		token, start := r.Next()
		end := int32(r.Pos)
		switch {
		case token == wire.NoToken:
			for i := range t.nodes { // values without an end in the text
				if t.nodes[i].end == 0 {
					t.nodes[i].end = int32(len(t.nodes))
				}
			}
			return t
		case token == '}' || token == ']':
			if parent >= 0 {
				p := &t.nodes[parent]
				p.to, p.end = end, int32(len(t.nodes))
				parent = p.parent
			}
		case token == wire.MemberName && nameEnd == 0 && parent >= 0 && json[t.nodes[parent].from] == '{':
			name, nameEnd = int32(start), end
		default:
			t.add(node{name: name, nameEnd: nameEnd, from: int32(start), to: end, parent: parent})
			name, nameEnd = 0, 0
			if token == '{' || token == '[' {
				parent = int32(len(t.nodes) - 1)
				t.nodes[parent].to = int32(len(json))
			}
		}
	}
}

func (t *tree) add(n node) {
	if n.parent >= 0 {
		p := &t.nodes[n.parent]
		n.depth, n.index = p.depth+1, p.children
		p.children++
	}
	if c := t.json[n.from]; c != '{' && c != '[' {
		n.end = int32(len(t.nodes) + 1)
	}
	t.nodes = append(t.nodes, n)
}

// raw returns a value's text.
func (t *tree) raw(i int32) []byte { return t.json[t.nodes[i].from:t.nodes[i].to] }

// holds reports whether a value is an array or object.
func (t *tree) holds(i int32) bool { c := t.json[t.nodes[i].from]; return c == '{' || c == '[' }

// text returns the text of a string, or any other value as JSON.
func (t *tree) text(i int32) string { return wire.ValueOf(t.raw(i)).String() }

// name returns a member's name, or the empty string for an element.
func (t *tree) name(i int32) string {
	n := t.nodes[i]
	return wire.ValueOf(t.json[n.name:n.nameEnd]).String()
}

// path returns a value's path, in the syntax of wire.Value.Get.
func (t *tree) path(i int32) string {
	var parts []string
	for ; t.nodes[i].parent >= 0; i = t.nodes[i].parent {
		if n := t.nodes[i]; n.nameEnd > 0 {
			parts = append(parts, wire.EscapeKey(t.name(i)))
		} else {
			parts = append(parts, strconv.Itoa(int(n.index)))
		}
	}
	if parts == nil {
		return "@this"
	}
	slices.Reverse(parts)
	return strings.Join(parts, ".")
}

// maxMembers limits the members of an object among which member looks: meaningful objects
// have fewer, and member may be called for each of a million members.
const maxMembers = 32

// member returns the value of an object's member, or -1 if there is none.
func (t *tree) member(object int32, name string) int32 {
	return t.memberAmong(object, name, maxMembers)
}

// memberAmong is like member, but starts from the first member.
func (t *tree) memberAmong(object int32, name string, first int32) int32 {
	for i := object + 1; i < t.nodes[object].end && t.nodes[i].index < first; i = t.nodes[i].end {
		if t.name(i) == name {
			return i
		}
	}
	return -1
}
