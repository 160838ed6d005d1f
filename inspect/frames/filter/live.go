package filter

import "strings"

// Unseen returns the first term of f that asks what is not known of a frame while it
// passes through a proxy, and why it is not. It returns "" if there is none.
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
	case t.key == "kind" && t.value == "mark", t.key == "is" && t.value == "gap":
		return "a mark is on the tape and passes nobody"
	case t.key == "kind" && t.value == "stderr", t.key == "dir" && (t.value == "err" || t.value == "stderr"):
		return "lines of stderr are not shown to rules"
	case t.key == "kind" && t.value == "body":
		return "bodies are of HTTP, and a rule sees stdio"
	case t.key == "is" && t.value == "open", t.key == "failure" && t.reads&ofFuture != 0:
		return "whether a request gets an answer is known later"
	case t.key == "slow":
		return "what is slow is told by the tape"
	}
	return ""
}
