package schema

import (
	"cmp"
	"errors"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

// A limit is a keyword that bounds a number, a length or a count, or the pattern of
// a string.
type limit struct {
	bound
	text    string // its value as written
	count   int    // value of a limit on a length or count
	pattern *regexp.Regexp
}

// A bound describes a keyword.
type bound struct {
	of         types
	says, unit string // text before and after the value
	sign       int    // 1: the value is a minimum, -1: a maximum
	strict     bool   // the value itself is out of bounds
}

// bounds are the keywords that limit a value.
var bounds = map[string]bound{
	"pattern":          {of: str, says: "a text that matches "},
	"minimum":          {of: number, says: "at least ", sign: 1},
	"exclusiveMinimum": {of: number, says: "more than ", sign: 1, strict: true},
	"maximum":          {of: number, says: "at most ", sign: -1},
	"exclusiveMaximum": {of: number, says: "less than ", sign: -1, strict: true},
	"minLength":        {of: str, says: "at least ", unit: " characters", sign: 1},
	"maxLength":        {of: str, says: "at most ", unit: " characters", sign: -1},
	"minItems":         {of: array, says: "at least ", unit: " elements", sign: 1},
	"maxItems":         {of: array, says: "at most ", unit: " elements", sign: -1},
	"minProperties":    {of: object, says: "at least ", unit: " members", sign: 1},
	"maxProperties":    {of: object, says: "at most ", unit: " members", sign: -1},
}

func limitOf(keyword string, value []byte) (l limit, err error) {
	l = limit{bound: bounds[keyword], text: string(value)}
	if keyword == "pattern" {
		l.pattern, err = regexp.Compile(wire.Text(value))
		return l, err
	}
	if typeOf(value, false)&number == 0 {
		return l, errors.New("the limit is no number")
	}
	if l.of != number {
		if l.count, err = strconv.Atoi(l.text); err != nil {
			return l, errors.New("the limit is no small integer")
		}
	}
	return l, nil
}

// holds reports whether a value of the limit's type satisfies it.
func (l limit) holds(value []byte) bool {
	n := 0
	switch l.of {
	case number:
		return l.allows(compareNumbers(value, l.text))
	case str:
		s, _ := wire.Unquote(value)
		if l.pattern != nil {
			return l.pattern.Match(s)
		}
		n = utf8.RuneCount(s)
	case array:
		for range wire.Elements(value) {
			n++
		}
	case object:
		n = distinct(value)
	}
	return l.allows(cmp.Compare(n, l.count))
}

// allows reports whether a value is within the limit, given the result of comparing the
// two.
func (l limit) allows(compared int) bool { return compared*l.sign > 0 || compared == 0 && !l.strict }

// distinct returns the number of an object's members with different names.
func distinct(value []byte) int {
	names := map[string]bool{}
	for name := range wire.Members(value) {
		names[string(name)] = true
	}
	return len(names)
}

// String returns what the limit requires.
func (l limit) String() string { return l.says + l.text + l.unit }
