package filter

import "regexp"

// Texts returns the texts and expressions by which f finds frames, in their text or at
// paths. Negated ones are left out.
func (f Filter) Texts() (texts []string, expressions []*regexp.Regexp) {
	var visit func(node)
	visit = func(n node) {
		switch n := n.(type) {
		case group:
			for _, n := range n.nodes {
				visit(n)
			}
		case *term:
			switch p := n.pattern.(type) {
			case *textSearch:
				texts = append(texts, string(p.text))
			case exact:
				texts = append(texts, string(p))
			case expression:
				expressions = append(expressions, p.re)
			}
		}
	}
	if f.root != nil {
		visit(f.root)
	}
	return texts, expressions
}
