package script

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// Members that make an object a matcher or a reference.
const (
	anything = "$any"  // with true: any value
	matching = "$re"   // a string that a Go regexp matches; its named groups are captured
	captured = "$as"   // captures the value under a name if the other members fit
	oneOf    = "$one"  // one of the patterns in the array fits
	other    = "$not"  // the pattern does not fit
	some     = "$some" // an array with at least one element that the pattern fits
	each     = "$each" // an array whose elements all fit the pattern
	absent   = "$none" // with true: the enclosing object lacks this member
	rest     = "$rest" // with true, as the last element of an array: more may follow
	used     = "$use"  // replaced by the value captured under a name
)

// matchers lists the matchers for error messages.
var matchers = []string{anything, matching, captured, oneOf, other, some, each, absent, rest, used}

// decode parses one JSON value. Numbers keep their notation.
func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the value")
	}
	return v, nil
}

// Decode parses one JSON value in the representation that Captures use.
func Decode(data []byte) (any, error) { return decode(data) }

// encode returns v as JSON.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // v was decoded from JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Captures holds captured values by name. In name.path, the path selects a part of the value;
// array elements are numbered from 0.
type Captures map[string]any

// Lookup returns a captured value or a part of it.
func (c Captures) Lookup(name string) (any, bool) {
	name, path, _ := strings.Cut(name, ".")
	v, ok := c[name]
	for path != "" && ok {
		var key string
		key, path, _ = strings.Cut(path, ".")
		switch in := v.(type) {
		case map[string]any:
			v, ok = in[key]
		case []any:
			i, err := strconv.Atoi(key)
			if ok = err == nil && i >= 0 && i < len(in); ok {
				v = in[i]
			}
		default:
			ok = false
		}
	}
	return v, ok
}

// insert matches ${NAME} in a text.
var insert = lazyregexp.New(`\$\{([A-Za-z][\w.-]*)\}`)

// fill returns v with all references replaced by their values.
func (c Captures) fill(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return c.fillText(v)
	case []any:
		filled := make([]any, len(v))
		for i := range v {
			var err error
			if filled[i], err = c.fill(v[i]); err != nil {
				return nil, err
			}
		}
		return filled, nil
	case map[string]any:
		if name, ok := v[used].(string); ok && len(v) == 1 {
			value, ok := c.Lookup(name)
			if !ok {
				return nil, notCaptured(name)
			}
			return value, nil
		}
		filled := make(map[string]any, len(v))
		for key, value := range v {
			var err error
			if filled[key], err = c.fill(value); err != nil {
				return nil, err
			}
		}
		return filled, nil
	}
	return v, nil
}

func notCaptured(name string) error { return fmt.Errorf("nothing was captured as %s", name) }

// fillText replaces each ${NAME} in a text.
func (c Captures) fillText(text string) (_ string, err error) {
	filled := insert().ReplaceAllStringFunc(text, func(use string) string {
		name := use[2 : len(use)-1]
		v, ok := c.Lookup(name)
		if !ok {
			err = notCaptured(name)
		}
		if s, ok := v.(string); ok {
			return s
		}
		return string(encode(v))
	})
	return filled, err
}

// match reports whether got fits pattern, and captures the values that pattern names.
// References in pattern must be filled in already. got may have additional members.
func (c Captures) match(pattern, got any) bool {
	switch p := pattern.(type) {
	case map[string]any:
		return c.matchObject(p, got)
	case []any:
		return c.matchArray(p, got)
	case json.Number:
		n, ok := got.(json.Number)
		return ok && sameNumber(p, n)
	}
	return pattern == got // strings, booleans, null
}

func (c Captures) matchObject(pattern map[string]any, got any) bool {
	object, isObject := got.(map[string]any)
	members := 0
	for key, want := range pattern {
		switch key {
		case anything:
		case matching:
			text, ok := got.(string)
			if !ok || !c.matchText(want.(string), text) {
				return false
			}
		case captured: // captured below
		case oneOf:
			if !c.matchOne(want.([]any), got) {
				return false
			}
		case other:
			if c.match(want, got) {
				return false
			}
		case some, each:
			if !c.matchElements(want, got, key == each) {
				return false
			}
		default:
			members++
			value, there := object[key]
			if is(want, absent) == there || there && !c.match(want, value) {
				return false
			}
		}
	}
	if !isObject && (members > 0 || len(pattern) == 0) {
		return false
	}
	if name, ok := pattern[captured].(string); ok {
		c[name] = got
	}
	return true
}

// is reports whether pattern is the given matcher with the value true.
func is(pattern any, matcher string) bool {
	p, _ := pattern.(map[string]any)
	return p[matcher] == true
}

func (c Captures) matchArray(pattern []any, got any) bool {
	array, ok := got.([]any)
	if !ok {
		return false
	}
	n := len(pattern)
	if n > 0 && is(pattern[n-1], rest) {
		n--
		if len(array) < n {
			return false
		}
	} else if len(array) != n {
		return false
	}
	for i := range n {
		if !c.match(pattern[i], array[i]) {
			return false
		}
	}
	return true
}

func (c Captures) matchText(expression, text string) bool {
	re, err := regexp.Compile(expression)
	if err != nil {
		return false // only possible after filling in, because Parse compiles literal expressions
	}
	groups := re.FindStringSubmatch(text)
	if groups == nil {
		return false
	}
	for i, name := range re.SubexpNames() {
		if name != "" {
			c[name] = groups[i]
		}
	}
	return true
}

func (c Captures) matchOne(patterns []any, got any) bool {
	for _, p := range patterns {
		if c.match(p, got) {
			return true
		}
	}
	return false
}

// matchElements reports whether pattern fits some element of an array, or with all each of
// them.
func (c Captures) matchElements(pattern, got any, all bool) bool {
	array, ok := got.([]any)
	if !ok {
		return false
	}
	for _, element := range array {
		if c.match(pattern, element) != all {
			return !all
		}
	}
	return all
}

// sameNumber compares numbers by value: 1, 1.0 and 1e0 are equal.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	const most = 40 // characters; a huge exponent would exhaust the memory
	if len(a) > most || len(b) > most || bytes.ContainsAny([]byte(a+b), "eE") {
		x, err1 := a.Float64()
		y, err2 := b.Float64()
		return err1 == nil && err2 == nil && x == y
	}
	x, ok1 := new(big.Rat).SetString(string(a))
	y, ok2 := new(big.Rat).SetString(string(b))
	return ok1 && ok2 && x.Cmp(y) == 0
}

// checkPattern returns an error if a matcher in v is invalid. It calls use with each name that
// v refers to, and capture with each name that it captures.
func checkPattern(v any, use, capture func(name string)) error {
	switch v := v.(type) {
	case string:
		for _, m := range insert().FindAllStringSubmatch(v, -1) {
			use(m[1])
		}
	case []any:
		for _, one := range v {
			if err := checkPattern(one, use, capture); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, value := range v {
			if strings.HasPrefix(key, "$") {
				if err := checkMatcher(key, value, use, capture); err != nil {
					return err
				}
			}
			if err := checkPattern(value, use, capture); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkMatcher(key string, value any, use, capture func(name string)) error {
	text, isText := value.(string)
	switch key {
	case anything, absent, rest:
		if value != true {
			return fmt.Errorf("%s is followed by true", key)
		}
	case matching:
		re, err := regexp.Compile(text)
		if !isText || err != nil {
			return fmt.Errorf("%s is followed by a regular expression: %w", key, cmp.Or(err, errors.New("not a string")))
		}
		for _, name := range re.SubexpNames() {
			if name != "" {
				capture(name)
			}
		}
	case other, some, each: // any pattern
	case captured, used:
		if !isText || !insert().MatchString("${"+text+"}") {
			return fmt.Errorf("%s is followed by a name", key)
		}
		if key == used {
			use(text)
		} else {
			capture(text)
		}
	case oneOf:
		if list, ok := value.([]any); !ok || len(list) == 0 {
			return fmt.Errorf("%s is followed by an array of patterns", key)
		}
	default:
		return fmt.Errorf("%s is no matcher: expected one of %s", key, strings.Join(matchers, " "))
	}
	return nil
}
