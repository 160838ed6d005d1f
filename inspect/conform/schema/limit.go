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
	keyword string
	of      types
	text    string // its value as written
	num     decimal
	count   int // of lengths and counts; of bounds, if small
	small   bool
	pattern *regexp.Regexp
}

func limitOf(keyword string, value []byte) (l limit, err error) {
	l = limit{keyword: keyword, text: string(value)}
	switch keyword {
	case "pattern":
		l.of = str
		l.pattern, err = regexp.Compile(wire.Text(value))
		return l, err
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		l.of = number
	case "minLength", "maxLength":
		l.of = str
	case "minItems", "maxItems":
		l.of = array
	case "minProperties", "maxProperties":
		l.of = object
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
	switch l.keyword {
	case "pattern":
		s, _ := wire.Unquote(value)
		return l.pattern.Match(s)
	case "minimum":
		return l.compare(value) >= 0
	case "exclusiveMinimum":
		return l.compare(value) > 0
	case "maximum":
		return l.compare(value) <= 0
	case "exclusiveMaximum":
		return l.compare(value) < 0
	case "minLength", "maxLength":
		s, _ := wire.Unquote(value)
		return l.allows(utf8.RuneCount(s))
	case "minItems", "maxItems":
		n := 0
		for range wire.Elements(value) {
			n++
		}
		return l.allows(n)
	}
	return l.allows(distinct(value))
}

// distinct returns how many members of different names an object has.
func distinct(value []byte) int {
	names := map[string]bool{}
	for name, _ := range wire.Members(value) {
		names[string(name)] = true
	}
	return len(names)
}

// allows reports whether a length or a count keeps within the limit.
func (l limit) allows(n int) bool {
	switch l.keyword {
	case "minLength", "minItems", "minProperties":
		return n >= l.count
	}
	return n <= l.count
}

// String returns what the limit asks for.
func (l limit) String() string {
	switch l.keyword {
	case "pattern":
		return "a text that matches " + l.text
	case "minimum":
		return "at least " + l.text
	case "exclusiveMinimum":
		return "more than " + l.text
	case "maximum":
		return "at most " + l.text
	case "exclusiveMaximum":
		return "less than " + l.text
	case "minLength":
		return "at least " + l.text + " characters"
	case "maxLength":
		return "at most " + l.text + " characters"
	case "minItems":
		return "at least " + l.text + " elements"
	case "maxItems":
		return "at most " + l.text + " elements"
	case "minProperties":
		return "at least " + l.text + " members"
	}
	return "at most " + l.text + " members"
}

func (l limit) compare(value []byte) int {
	if n, small := smallInteger(value); small && l.small {
		return cmp.Compare(n, l.count)
	}
	return decimalOf(value).compare(l.num)
}

// smallInteger reads an integer that is written as one, of up to nine digits.
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
