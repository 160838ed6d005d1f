package schema

import (
	"bytes"
	"cmp"
	"errors"
	"regexp"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

// A limit is a keyword that bounds a number, a length or a count, or the pattern of
// a string.
type limit struct {
	bound
	text    string // its value as written
	num     decimal
	count   int // of lengths and counts; of bounds, if small
	small   bool
	pattern *regexp.Regexp
}

// A bound is what a keyword means.
type bound struct {
	of         types
	says, unit string // before and after the value
	sign       int    // 1: the value is the least, -1: the most
	strict     bool   // the value itself is beyond it
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
	l.count, l.small = smallInteger(value)
	if l.of != number && !l.small {
		return l, errors.New("the limit is no small integer")
	}
	l.num = decimalOf(value)
	return l, nil
}

// holds reports whether a value of the limit's type keeps within it.
func (l limit) holds(value []byte) bool {
	n := 0
	switch l.of {
	case number:
		return l.allows(l.compare(value))
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

// distinct returns how many members of different names an object has.
func distinct(value []byte) int {
	names := map[string]bool{}
	for name := range wire.Members(value) {
		names[string(name)] = true
	}
	return len(names)
}

// String returns what the limit asks for.
func (l limit) String() string { return l.says + l.text + l.unit }

func (l limit) compare(value []byte) int {
	if n, small := smallInteger(value); small && l.small {
		return cmp.Compare(n, l.count)
	}
	return decimalOf(value).compare(l.num)
}

// smallInteger parses an integer of up to nine digits without fraction or exponent.
func smallInteger(value []byte) (n int, ok bool) {
	digits, negative := bytes.CutPrefix(value, []byte("-"))
	if len(digits) == 0 || len(digits) > 9 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
