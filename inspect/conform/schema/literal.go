package schema

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// types is a set of JSON Schema types. Integers are numbers too.
type types uint8

const (
	null types = 1 << iota
	boolean
	integer
	fraction // a number that is not an integer
	str
	array
	object

	number  = integer | fraction
	anyType = null | boolean | number | str | array | object
)

var typeNames = []struct {
	name string
	of   types
}{
	{"object", object}, {"array", array}, {"string", str}, {"number", number},
	{"integer", integer}, {"boolean", boolean}, {"null", null},
}

// String returns the names of the types, such as array or null.
func (t types) String() string {
	var names []string
	for _, n := range typeNames {
		if t&n.of == n.of {
			names = append(names, n.name)
			t &^= n.of
		}
	}
	if t == fraction {
		names = append(names, "number")
	}
	return strings.Join(names, " or ")
}

// typesOf parses the keyword type: a name or an array of names.
func typesOf(value []byte) (all types, err error) {
	names := texts(value)
	if names == nil {
		names = []string{wire.Text(value)}
	}
	for _, name := range names {
		known := false
		for _, n := range typeNames {
			if n.name == name {
				all, known = all|n.of, true
			}
		}
		if !known {
			return 0, errors.New("no type of JSON")
		}
	}
	return all, nil
}

// typeOf returns a value's type. It checks whether a number is an integer only if that
// matters.
func typeOf(value []byte, wholeMatters bool) types {
	if len(value) == 0 {
		return 0
	}
	switch value[0] {
	case '{':
		return object
	case '[':
		return array
	case '"':
		return str
	case 't', 'f':
		return boolean
	case 'n':
		return null
	}
	if wholeMatters && !whole(value) {
		return fraction
	}
	return integer
}

// A literal is a scalar that enum or const allows.
type literal struct {
	of   types
	text string // of a string, decoded; otherwise as written
}

func literalOf(value []byte) (l literal, ok bool) {
	l = literal{of: typeOf(value, true), text: string(value)}
	if l.of == str {
		l.text = wire.Text(value)
	}
	return l, l.of&(object|array) == 0
}

// is reports whether a value equals the literal. Strings are compared decoded, numbers by
// value.
func (l literal) is(value []byte) bool {
	switch {
	case len(value) == 0:
		return false
	case l.of == str:
		if value[0] != '"' || len(value) < 2 {
			return false
		}
		inner := value[1 : len(value)-1]
		if bytes.IndexByte(inner, '\\') >= 0 {
			inner, _ = wire.Unquote(value)
		}
		return string(inner) == l.text
	case l.of&number != 0:
		return typeOf(value, false) == integer && compareNumbers(value, l.text) == 0
	}
	return string(value) == l.text
}

func (l literal) equal(other literal) bool {
	if l.of&number != 0 {
		return other.of&number != 0 && compareNumbers([]byte(l.text), other.text) == 0
	}
	return l.of == other.of && l.text == other.text
}

// common returns the literals that both lists allow; nil allows all. The caller owns the
// first list.
func common(a, b []literal) []literal {
	switch {
	case a == nil:
		return slices.Clone(b)
	case b == nil:
		return a
	}
	kept := []literal{}
	for _, l := range a {
		if slices.ContainsFunc(b, l.equal) {
			kept = append(kept, l)
		}
	}
	return kept
}
