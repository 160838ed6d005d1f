// Package filter is the language in which frames are picked by what they are and
// by what is in them:
//
//	method:session/* !update:agent_message_chunk (latency:>2s | is:error) "no such file"
//
// Terms side by side must all fit, of those with | between them one, and ! turns
// a term or a group round:
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
// Keys returns the keys and what they mean. Behind a colon stands, for a closed set
// of words, one of them; for a method or an update the whole of it, with * for any
// characters; for an id its beginning; for a text or a path a part of it, where
// case counts if there are capital letters in it. Behind = stands all of the
// value, behind ~ a regular expression (RE2). Numbers are equal to the digits that are
// given: 2.3s is 2.3 to below 2.4 seconds. Durations are those of Go; sizes are in
// bytes, k M G and KiB MiB GiB count in 1024, kB MB GB in 1000; the time of a frame
// is a duration since the tape began, 15:04:05, or RFC 3339.
//
// The package knows nothing of storage or screens. It looks at one frame at a
// time: what a frame owes to others is told to it in a Subject.
package filter

import "strings"

// A Filter says which frames are wanted. The zero Filter wants every frame. A
// Filter never changes, so several goroutines may use it.
type Filter struct {
	root node // nil: every frame
}

// IsZero reports whether every frame is wanted.
func (f Filter) IsZero() bool { return f.root == nil }

// String returns f in the language. Parse makes the same Filter of it.
func (f Filter) String() string {
	if f.root == nil {
		return ""
	}
	var b strings.Builder
	f.root.write(&b)
	return b.String()
}

// Match reports whether a frame is wanted. What a frame lacks fits no term. The
// method, update, session, id, tool or path of a batch is that of any of its
// entries. Of a frame that is longer than wire.MaxChecked, text is looked for in
// what Raw has of it.
func (f Filter) Match(s *Subject) bool { return f.root == nil || f.root.fits(s) == yes }

// May reports whether a frame without its bytes is wanted, or is if they fit.
// With the bytes, or if NeedsBytes is false, it is Match.
func (f Filter) May(s *Subject) bool { return f.root == nil || f.root.fits(s) != no }

// NeedsBytes reports whether Match looks at more than a frame's fields.
func (f Filter) NeedsBytes() bool { return f.needs(ofBytes) }

// NeedsPast reports whether Match looks at Latency, Turn or Tool of a Subject:
// these are known to who has read the tape from its beginning on.
func (f Filter) NeedsPast() bool { return f.needs(ofPast) }

// NeedsFuture reports whether Match looks at Open of a Subject.
func (f Filter) NeedsFuture() bool { return f.needs(ofFuture) }

func (f Filter) needs(n needs) bool { return f.root != nil && f.root.needs()&n != 0 }

// All returns the Filter for frames that all of the given ones want.
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
	return Filter{allOf(nodes)}
}

// Any returns the Filter for frames that one of the given ones wants. At least
// one is given.
func Any(filters ...Filter) Filter {
	var nodes []node
	for _, f := range filters {
		if f.root == nil {
			return Filter{}
		}
		nodes = append(nodes, f.root)
	}
	return Filter{someOf(nodes)}
}

// Is returns the Filter key:value, whatever characters are in value.
func Is(key, value string) (Filter, error) {
	t, err := newTerm(written{key: key, op: ":", value: value})
	if err != nil {
		return Filter{}, err
	}
	return Filter{t}, nil
}
