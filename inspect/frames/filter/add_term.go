package filter

import (
	"slices"
	"strings"
)

// Add returns query narrowed by one more term, to frames that have the value or, if
// negated, to those that lack it. key is one of Keys, or what PathKey returns. Add
// returns the query unchanged if it already has the term, and drops the opposite term.
func Add(query, key, value string, exclude bool) (string, error) {
	f, err := Parse(query)
	if err != nil {
		return query, err
	}
	t, fault := newTerm(written{key: key, op: opFor(key, value), value: value})
	if fault != nil {
		return query, fault
	}
	var n node = t
	if exclude {
		n = notOf(t)
	}
	nodes := []node{}
	if g, ok := f.root.(group); ok && !g.any {
		nodes = append(nodes, g.nodes...)
	} else if f.root != nil {
		nodes = append(nodes, f.root)
	}
	is := func(n node) func(node) bool {
		return func(other node) bool { return Filter{other}.String() == Filter{n}.String() }
	}
	if slices.ContainsFunc(nodes, is(n)) {
		return query, nil
	}
	nodes = slices.DeleteFunc(nodes, is(notOf(n)))
	return Filter{grouped(false, append(nodes, n))}.String(), nil
}

// opFor returns the operator that matches exactly the given value.
func opFor(key, value string) string {
	switch key {
	case "session", "tool", "id":
		return "="
	case "method", "update":
		if strings.Contains(value, "*") {
			return "="
		}
	}
	if strings.HasPrefix(key, ".") || strings.HasPrefix(key, "`") {
		return "="
	}
	return ":"
}
