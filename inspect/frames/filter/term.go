package filter

import (
	"fmt"
	"slices"
	"strings"
)

// A term is one predicate, as written and as evaluated.
type term struct {
	written
	test
}

// written is a term in words.
type written struct {
	key   string // one of Keys, or a path with its dot or backquotes
	op    string
	value string // or the first of a range
	to    string // the last of a range, or empty
	bare  bool   // the value had no quotes, so it may be a range
}

// A test evaluates a term on a frame.
type test struct {
	reads   needs
	ask     func(*Subject) verdict
	pattern pattern // for texts in the frame; nil if the test searches for none
}

// A testMaker returns the test of a term, or describes what is wrong with its value. path
// is the path if the term's key is anyPath.
type testMaker func(w written, path string) (t test, problem string)

func (t *term) fits(s *Subject) verdict { return t.ask(s) }
func (t *term) needs() needs            { return t.reads }

// newTerm makes the test of a term.
func newTerm(w written) (*term, *fault) {
	k, path, err := lookup(w.key)
	if err != nil {
		return nil, err
	}
	if path != "" {
		w.key = PathKey(path)
	}
	if !slices.Contains(k.ops, w.op) {
		problem := w.key + " does not take " + w.op
		if w.op == "" {
			problem = "an operator and a value are missing after the path"
		}
		return nil, &fault{ofOp, problem, k.ops}
	}
	if w.bare && w.value == "" {
		problem := "a value is missing"
		if k.words == nil {
			problem += " (quote one that has blanks, ( ) or | in it)"
		}
		return nil, &fault{ofValue, problem, k.Words()}
	}
	if from, to, ok := strings.Cut(w.value, ".."); ok && w.bare && w.op == ":" && k.ranges(from, to) {
		if from == "" || to == "" {
			return nil, &fault{ofValue, "a range has two ends, such as 3..9", nil}
		}
		w.value, w.to = from, to
	}
	w.bare = false
	t, problem := k.test(w, path)
	if problem != "" {
		return nil, &fault{ofValue, problem, k.Words()}
	}
	return &term{w, t}, nil
}

// lookup returns the Key for a key as written, and its gjson path if it is one.
func lookup(name string) (k *Key, path string, err *fault) {
	path, dotted := strings.CutPrefix(name, ".")
	if strings.HasPrefix(name, "`") {
		path, dotted = strings.Trim(name, "`"), true
	}
	if dotted {
		if problem := CheckPath(path); problem != "" {
			return nil, "", &fault{ofKey, problem, nil}
		}
		return &anyPath, path, nil
	}
	keys := Keys()
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		problem := fmt.Sprintf("%q is not a key (quote a text that has : = < > or ~ in it)", name)
		return nil, "", &fault{ofKey, problem, keyNames()}
	}
	return &keys[i], "", nil
}

func (t *term) write(b *strings.Builder) {
	if t.key == "text" && t.op == ":" {
		if isText(t.value) {
			b.WriteString(t.value)
		} else {
			b.WriteString(quote(t.value))
		}
		return
	}
	b.WriteString(t.key)
	b.WriteString(t.op)
	if t.to != "" {
		b.WriteString(t.value + ".." + t.to)
		return
	}
	b.WriteString(Value(t.value))
}
