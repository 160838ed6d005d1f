package filter

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// A pattern decides whether a text matches a term's value. Equal patterns are deeply
// equal.
type pattern interface{ match(s string) bool }

// patternOf returns the pattern of a term: exact for =, RE2 for ~, loose for the colon.
func patternOf(w written, loose func(string) pattern) (p pattern, problem string) {
	switch w.op {
	case "=":
		return exact(w.value), ""
	case "~":
		re, problem := compile(w.value)
		return expression{re}, problem
	}
	return loose(w.value), ""
}

func compile(expr string) (re *regexp.Regexp, problem string) {
	re, err := regexp.Compile(expr)
	if err == nil {
		return re, ""
	}
	if e, ok := err.(*syntax.Error); ok && e.Expr != expr {
		return nil, fmt.Sprintf("%s in this regular expression: %s", e.Code, e.Expr)
	} else if ok {
		return nil, fmt.Sprintf("%s in this regular expression", e.Code)
	}
	return nil, err.Error()
}

type exact string

func (p exact) match(s string) bool { return s == string(p) }

type prefix string

func prefixes(v string) pattern { return prefix(v) }

func (p prefix) match(s string) bool { return strings.HasPrefix(s, string(p)) }

type expression struct{ re *regexp.Regexp }

func (p expression) match(s string) bool { return p.re.MatchString(s) }
func (p expression) in(b []byte) bool    { return p.re.Match(b) }

// A glob is a pattern in which * matches any characters, including slashes.
type glob string

func globs(v string) pattern { return glob(v) }

func (p glob) match(s string) bool {
	head, rest, star := strings.Cut(string(p), "*")
	if !star {
		return s == head
	}
	s, ok := strings.CutPrefix(s, head)
	if !ok {
		return false
	}
	for {
		// Take the first match of the text between two stars; it leaves the most for the
		// rest.
		head, rest, star = strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(s, head)
		}
		if _, s, ok = strings.Cut(s, head); !ok {
			return false
		}
	}
}
