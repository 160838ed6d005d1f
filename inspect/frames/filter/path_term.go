package filter

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
)

// PathKey returns the key of a gjson path, such as .params.sessionId.
func PathKey(path string) string {
	if path != "" && run(path, isPathByte) == len(path) {
		return "." + path
	}
	// A backquote cannot be written here, but ? matches any character.
	return "`" + strings.ReplaceAll(path, "`", "?") + "`"
}

// computes matches gjson's modifiers, literals and multipaths, which compute new values
// from those in the frame, without bounds.
var computes = lazyregexp.New(`(^|[.|(])[@!\[{]`)

// CheckPath returns what is wrong with a gjson path, or "" if it selects values.
func CheckPath(path string) (problem string) {
	switch {
	case path == "":
		return "a path is missing"
	case computes().MatchString(path):
		return "a path selects values and computes none: no part of it may begin with @ ! [ or {"
	}
	return ""
}

// pathTerm selects the value at a gjson path and, if that is an array, its elements.
func pathTerm(w written, path string) (test, string) {
	p, problem := patternOf(w, contains)
	if w.to != "" || strings.ContainsAny(w.op, "<>") {
		p, problem = numbersOf(w)
	}
	return test{ofBytes, func(s *Subject) verdict {
		switch s.Kind {
		case wire.Invalid, wire.Stderr, wire.Oversized: // gjson reads only JSON of bounded size and depth
			return no
		}
		return s.messages(func(_ int, message []byte) bool { return matchesAt(message, path, p) })
	}, p}, problem
}

func matchesAt(message []byte, path string, p pattern) bool {
	v := wire.ValueAt(message, path)
	if !v.Exists() {
		return false
	}
	found := p.match(textOf(v))
	if v.IsArray() && !found {
		v.ForEach(func(_, element wire.Value) bool {
			found = p.match(textOf(element))
			return !found
		})
	}
	return found
}

// textOf returns the text of a string, or any other value as sent.
func textOf(v wire.Value) string {
	if v.IsString() {
		return v.Text()
	}
	return v.Raw()
}

// numbersFrom is a pattern for JSON numbers.
type numbersFrom struct {
	op       string
	from, to float64
}

// areNumbers reports whether from..to is a range.
func areNumbers(from, to string) bool {
	_, err := strconv.ParseFloat(from, 64)
	_, err2 := strconv.ParseFloat(to, 64)
	return err == nil && err2 == nil
}

func numbersOf(w written) (p pattern, problem string) {
	from, err := strconv.ParseFloat(w.value, 64)
	if err != nil || math.IsNaN(from) {
		return nil, fmt.Sprintf("%q is not a number", w.value)
	}
	if w.to == "" {
		return numbersFrom{w.op, from, 0}, ""
	}
	to, err := strconv.ParseFloat(w.to, 64)
	switch {
	case err != nil || math.IsNaN(to):
		return nil, fmt.Sprintf("%q is not a number", w.to)
	case to < from:
		return nil, emptyRange
	}
	return numbersFrom{"..", from, to}, ""
}

func (p numbersFrom) match(s string) bool {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return false
	}
	order := cmp.Compare(v, p.from)
	switch p.op {
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	}
	return order >= 0 && v <= p.to
}
