package wire

import (
	"bytes"
	"cmp"
	"slices"
)

// A Repeat is a member that does not count, because a later member of its object has the
// same name.
type Repeat struct {
	Name string
	Span // from its name to the name of the following member
}

// Repeats returns the members at any depth of a text that do not count, in the order in which
// they begin. JSON does not define which of two members with the same name counts (RFC 8259,
// section 4). Here the last one does, as in the decoders of Go, JavaScript and Python.
func Repeats(text []byte) []Repeat {
	if !repeats(text) {
		return nil
	}
	var found []Repeat
	var open []object
	r := Reader{Text: text}
	for token, start := r.Next(); token != NoToken; token, start = r.Next() {
		switch token {
		case '{', '[':
			open = append(open, object{})
		case '}', ']':
			open = open[:max(len(open)-1, 0)]
		case MemberName:
			if len(open) == 0 {
				continue
			}
			name := string(unquote(text[start:r.Pos]))
			if before, ok := open[len(open)-1].add(name, start); ok {
				found = append(found, Repeat{name, before})
			}
		}
	}
	slices.SortFunc(found, func(a, b Repeat) int { return cmp.Compare(a.Start, b.Start) })
	return found
}

// repeats reports whether Repeats may find any members in text.
func repeats(text []byte) bool {
	if bytes.IndexByte(text, '{') < 0 {
		return false
	}
	s := scanner{b: text}
	s.blanks()
	s.value()
	return s.names.repeat || s.deep
}

// An object is one that Repeats is currently inside, up to the current member.
type object struct {
	starts []int          // positions of its members
	last   map[string]int // by name: the last member with it, as an index into starts
}

// add adds a member, and returns the position of the previous one with the same name.
func (o *object) add(name string, start int) (before Span, ok bool) {
	o.starts = append(o.starts, start)
	i, ok := o.last[name]
	if ok {
		before = Span{o.starts[i], o.starts[i+1]}
	}
	if o.last == nil {
		o.last = map[string]int{}
	}
	o.last[name] = len(o.starts) - 1
	return before, ok
}

// withoutRepeats returns a text without the members that do not count.
func withoutRepeats(text []byte) []byte {
	found := Repeats(text)
	if len(found) == 0 {
		return text
	}
	var kept []byte
	done := 0
	for _, f := range found {
		if f.Start >= done { // otherwise it is inside another one
			kept, done = append(kept, text[done:f.Start]...), f.End
		}
	}
	return append(kept, text[done:]...)
}
