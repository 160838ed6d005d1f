// Package filter is the query language that selects frames by their fields and their
// content:
//
//	method:session/* !update:agent_message_chunk (latency:>2s | is:error) "no such file"
//
// Terms side by side must all match; of terms joined by |, one must. ! negates a term or
// a group:
//
//	query = [ or ]
//	or    = and { "|" and }
//	and   = not { not }
//	not   = { "!" } ( "(" or ")" | field | text )
//	field = key op value | path op value                  without blanks
//	path  = "." bare path | "`" gjson path "`"            bare path: A-Z a-z 0-9 _ . * # -
//	op    = ":" | [":"] ( ">=" | "<=" | ">" | "<" | "=" | "~" )
//	value = string | bare | bare ".." bare
//	text  = string | bare
//	string: between double quotes, with \" and \\; any other backslash stays
//	bare:   anything but blanks ( ) | " `, and not beginning with !
//
// Keys returns the keys and what they mean. What a value after a colon matches depends on
// the key: a word of a closed set matches that word; a method or an update matches whole,
// with * for any characters; an id matches by prefix; a text or the value at a path
// matches anywhere, case-sensitively if the value has capital letters. After = a value
// must match as a whole; after ~ it is a regular expression (RE2). A number is as exact
// as it is written: 2.3s is 2.3 to below 2.4 seconds. Durations are those of Go. Sizes
// are in bytes; k M G and KiB MiB GiB are powers of 1024, kB MB GB of 1000. The time of a
// frame is a duration since the tape began, a time of day such as 15:04:05, or RFC 3339.
//
// A Filter looks at one frame at a time. A Subject, made by a Tracker, adds what other
// frames reveal about it, such as its latency, its turn, or whether it has a response, as
// well as rule findings. The package knows nothing of storage or screens, and no query
// can make it use unbounded time or memory.
package filter

import (
	"regexp"
	"strings"
)

// A Filter selects frames. The zero Filter selects every frame. A Filter is immutable, so
// several goroutines may use it.
type Filter struct {
	root node // nil: every frame
}

// IsZero reports whether f selects every frame.
func (f Filter) IsZero() bool { return f.root == nil }

// String returns f as a query that Parse turns back into the same Filter.
func (f Filter) String() string {
	if f.root == nil {
		return ""
	}
	var b strings.Builder
	f.root.write(&b)
	return b.String()
}

// Match reports whether f selects a frame. A term about something that the frame lacks
// does not match. A batch has the methods, updates, sessions, ids, tools and paths of all
// its entries. In a frame longer than wire.MaxChecked, only the text in Raw is searched.
func (f Filter) Match(s *Subject) bool { return f.root == nil || f.root.fits(s) == yes }

// May reports whether f selects a frame without its bytes, or might select it with them.
// If the frame has its bytes, or NeedsBytes is false, May is the same as Match.
func (f Filter) May(s *Subject) bool { return f.root == nil || f.root.fits(s) != no }

// NeedsBytes reports whether Match looks at more than a frame's fields.
func (f Filter) NeedsBytes() bool { return f.needs(ofBytes) }

// NeedsPast reports whether Match looks at Latency, Turn or Tool of a Subject, which
// require the tape to be read from its beginning.
func (f Filter) NeedsPast() bool { return f.needs(ofPast) }

// NeedsFuture reports whether Match looks at Open, Unanswered or Answer of a Subject.
func (f Filter) NeedsFuture() bool { return f.needs(ofFuture) }

// NeedsFindings reports whether Match looks at Findings of a Subject, which require the
// tape to be checked.
func (f Filter) NeedsFindings() bool { return f.needs(ofFindings) }

// NeedsSession reports whether Match looks at ServerOf of a Subject, which requires the
// agent's tape to be read.
func (f Filter) NeedsSession() bool { return f.needs(ofSession) }

func (f Filter) needs(n needs) bool { return f.root != nil && f.root.needs()&n != 0 }

// All returns a Filter that selects the frames that every given Filter selects.
func All(filters ...Filter) Filter {
	var nodes []node
	for _, f := range filters {
		if f.root != nil {
			nodes = append(nodes, f.root)
		}
	}
	if len(nodes) == 0 {
		return Filter{}
	}
	return Filter{grouped(false, nodes)}
}

// Any returns a Filter that selects the frames that any of the given ones selects. There
// must be at least one.
func Any(filters ...Filter) Filter {
	var nodes []node
	for _, f := range filters {
		if f.root == nil {
			return Filter{}
		}
		nodes = append(nodes, f.root)
	}
	return Filter{grouped(true, nodes)}
}

// Is returns the Filter key:value; value may contain any characters.
func Is(key, value string) (Filter, error) {
	t, err := newTerm(written{key: key, op: ":", value: value})
	if err != nil {
		return Filter{}, err
	}
	return Filter{t}, nil
}

// Texts returns the texts and expressions that f searches for, in frames' text or at
// paths. It omits negated ones.
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
