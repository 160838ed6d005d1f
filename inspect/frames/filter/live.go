package filter

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// CanSelect reports whether f can select any frame of the given kind and direction.
func (f Filter) CanSelect(kind wire.Kind, dir wire.Direction) bool {
	frame := dialect.Frame{Frame: wire.Frame{Kind: kind, Dir: dir}}
	return f.root == nil || canFit(f.root, &Subject{Frame: &frame}) != no
}

// canFit evaluates a node from a frame's kind and direction only.
func canFit(n node, s *Subject) verdict {
	switch n := n.(type) {
	case not:
		return yes - canFit(n.node, s)
	case group:
		all := make([]verdict, len(n.nodes))
		for i, n := range n.nodes {
			all[i] = canFit(n, s)
		}
		if n.any {
			return slices.Max(all)
		}
		return slices.Min(all)
	case *term:
		if n.key == "kind" || n.key == "dir" {
			return n.fits(s)
		}
	}
	return perhaps
}

// IsPlain reports whether f depends only on a frame's direction, kind, method and bytes, not
// on other frames.
func (f Filter) IsPlain() bool { return f.root == nil || isPlain(f.root) }

func isPlain(n node) bool {
	switch n := n.(type) {
	case not:
		return isPlain(n.node)
	case group:
		return !slices.ContainsFunc(n.nodes, func(n node) bool { return !isPlain(n) })
	case *term:
		return strings.HasPrefix(n.key, ".") || strings.HasPrefix(n.key, "`") || slices.Contains([]string{"dir", "kind", "method", "id", "text"}, n.key)
	}
	return false
}

// Unseen returns the first term of f that depends on something unknown while a frame passes
// through a proxy, and why it is unknown. It returns "" if there is none.
func (f Filter) Unseen() (term, why string) {
	if f.root == nil {
		return "", ""
	}
	return unseen(f.root)
}

func unseen(n node) (text, why string) {
	switch n := n.(type) {
	case not:
		return unseen(n.node)
	case group:
		for _, n := range n.nodes {
			if text, why = unseen(n); why != "" {
				return text, why
			}
		}
	case *term:
		if why := n.unseen(); why != "" {
			var b strings.Builder
			n.write(&b)
			return b.String(), why
		}
	}
	return "", ""
}

func (t *term) unseen() string {
	switch {
	case t.key == "seq":
		return "a frame has no number before it is on the tape"
	case t.key == "stream" || t.key == "server":
		return "it is about other tapes, and a rule sees the frames of one connection on stdio"
	case t.reads&ofFindings != 0:
		return "findings are known once the tape is checked"
	case t.asksMarks():
		return "a mark is on the tape and passes nobody"
	case t.key == "kind" && t.value == "stderr", t.key == "dir" && (t.value == "err" || t.value == "stderr"):
		return "lines of stderr are not shown to rules"
	case t.key == "kind" && t.value == "body":
		return "bodies are of HTTP, and a rule sees stdio"
	case t.key == "is" && t.value == "open", t.key == "failure" && t.reads&ofFuture != 0:
		return "whether a request gets an answer is known later"
	case t.key == "slow":
		return "only the tape shows what is slow"
	}
	return ""
}

// asksMarks reports whether t can match only marks.
func (t *term) asksMarks() bool {
	switch t.key {
	case "kind":
		return t.value == wire.Mark.String()
	case "is":
		return t.value == "gap"
	case "failure":
		return t.value == dialect.Gap.String() || t.value == dialect.BadExit.String()
	case "outcome":
		return t.value == dialect.Died.String()
	}
	return false
}
