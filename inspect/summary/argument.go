package summary

import (
	"slices"
	"strings"
	"unicode"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// An argument is a text that a tool was given.
type argument struct{ name, text string }

// argumentsOf returns the texts among arguments.
func argumentsOf(arguments []byte) (list []argument) {
	for name, value := range wire.Members(arguments) {
		texts := []string{wire.Text(value)}
		if wire.ValueOf(value).IsArray() {
			texts = nil
			for _, one := range wire.Elements(value) {
				if texts = append(texts, wire.Text(one)); len(texts) == maxArguments {
					break
				}
			}
		}
		for _, text := range texts {
			if text != "" && len(list) < maxArguments {
				list = append(list, argument{string(name), strings.Clone(text[:min(len(text), maxObject)])})
			}
		}
	}
	return list
}

// givenText returns what a tool was given in one line.
func givenText(given []argument) string {
	var texts []string
	for _, one := range given {
		texts = append(texts, one.text)
	}
	return termtext.Brief(strings.Join(texts, ", "), 0)
}

// maxArguments limits the arguments that are kept of a call.
const maxArguments = 8

// alike reports whether two calls of a tool are about the same: at least half of the texts of the
// first are equal in the second, or name the same file, or are statements of the same kind about the
// same table; or they have no texts.
func alike(a, b []argument) bool {
	same := 0
	for _, one := range a {
		if slices.ContainsFunc(b, func(other argument) bool { return one.name == other.name && sameObject(one.text, other.text) }) {
			same++
		}
	}
	return same > 0 && 2*same >= len(a) || len(a)+len(b) == 0
}

// sameThing reports whether a later call of a tool is about what an earlier one was about: of each
// argument of that, one of several values if it is a list, it has a similar one.
func sameThing(a, b []argument) bool {
	for _, one := range a {
		if !slices.ContainsFunc(a, func(value argument) bool {
			return value.name == one.name && slices.ContainsFunc(b, func(other argument) bool { return value.name == other.name && sameObject(value.text, other.text) })
		}) {
			return false
		}
	}
	return true
}

func sameObject(a, b string) bool {
	one, other := statementOf(a), statementOf(b)
	switch {
	case a == b:
		return true
	case one != nil || other != nil:
		return one.resembles(other)
	case nearly(a, b):
		return true
	case strings.Contains(a+b, "://"), !strings.ContainsAny(a, "/\\") || !strings.ContainsAny(b, "/\\"):
		return false
	}
	name := func(path string) string { return path[strings.LastIndexAny(path, "/\\")+1:] }
	return name(a) == name(b) && name(a) != ""
}

// nearly reports whether one of two names has the other in it, or they differ in a letter.
func nearly(a, b string) bool {
	one, other := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if len(one) > len(other) {
		one, other = other, one
	}
	if len(one) < minTelling || strings.ContainsAny(a+b, "/\\") {
		return false
	}
	if len(one) < len(other) {
		return strings.Contains(string(other), string(one))
	}
	differ := 0
	for i := range one {
		if one[i] != other[i] {
			if differ++; !unicode.IsLetter(one[i]) || !unicode.IsLetter(other[i]) {
				return false
			}
		}
	}
	return differ <= 1
}

// A statement is what SQL does, and with which tables.
type statement struct {
	verb   string
	tables []string
}

// statementOf returns the statement that a text is, or nil.
func statementOf(text string) *statement {
	m := sqlVerb().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	s := &statement{verb: strings.ToLower(m[1])}
	if s.verb == "with" {
		s.verb = "select"
	}
	for _, m := range sqlTable().FindAllStringSubmatch(text, maxArguments) {
		s.tables = append(s.tables, strings.ToLower(m[1]))
	}
	return s
}

// resembles reports whether two statements do the same with one of their tables.
func (s *statement) resembles(o *statement) bool {
	if s == nil || o == nil || s.verb != o.verb {
		return false
	}
	return slices.ContainsFunc(s.tables, func(table string) bool { return slices.Contains(o.tables, table) })
}

var (
	sqlVerb  = lazyregexp.New(`(?i)^\s*(select|with|explain|show|insert|update|delete|merge|create|alter|drop|truncate|grant|revoke)\s`)
	sqlTable = lazyregexp.New(`(?i)\b(?:from|join|into|update|table)\s+([\w."]+)`)

	// sqlJoin matches the condition of a join, and sqlColumns the columns of a query
	// but the first.
	sqlJoin    = lazyregexp.New(`(?i)(\bjoin\s+\S+(?:\s+(?:as\s+)?\w+)??)\s+(?:on\s+[\w."]+\s*=\s*[\w."]+|using\s*\([^)]*\))`)
	sqlColumns = lazyregexp.New(`(?i)^(\s*(?:explain\s+)?select\s+[^\s,]*,?)\s.*?\s(from\s)`)
)

// cutInput shortens what a tool was given to so many columns: of SQL first what tells least, and not
// by what the rows are grouped.
func cutInput(text string, columns int) string {
	if termtext.Width(text) > columns && sqlVerb().MatchString(text) {
		text = sqlJoin().ReplaceAllString(text, "$1")
	}
	if termtext.Width(text) > columns && sqlVerb().MatchString(text) {
		text = sqlColumns().ReplaceAllString(text, "$1 … $2")
	}
	end := strings.LastIndex(strings.ToLower(text), " group by ")
	if end < 0 || len(text)-end > columns/2 || termtext.Width(text) <= columns {
		return termtext.CutWords(text, columns)
	}
	return termtext.CutWords(text[:end], columns-termtext.Width(text[end:])) + text[end:]
}
