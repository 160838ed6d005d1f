package filter

import "reflect"

// Equal reports whether two filters have the same terms in the same places. The spelling of a
// term determines its meaning.
func Equal(a, b Filter) bool { return reflect.DeepEqual(terms(a.root), terms(b.root)) }

func terms(n node) any {
	switch n := n.(type) {
	case not:
		return []any{"not", terms(n.node)}
	case group:
		list := []any{n.any}
		for _, one := range n.nodes {
			list = append(list, terms(one))
		}
		return list
	case *term:
		return n.written
	}
	return nil
}
