package filter

import (
	"bytes"
	"regexp"

	"github.com/acptap/acptap/proxy/wire"
)

// textTerm asks for what stands somewhere in a frame: in its bytes as they
// are, or behind the escapes of JSON strings.
func textTerm(w written, _ string) (test, string) {
	switch w.op {
	case "=":
		return wholeTest(w.value), ""
	case "~":
		re, problem := compile(w.value)
		return expressionTest{re}, problem
	}
	return searchTest{newTextSearch(w.value)}, ""
}

type searchTest struct{ *textSearch }

func (searchTest) needs() needs { return ofBytes }

func (t searchTest) fits(s *Subject) verdict {
	if s.bare() {
		return perhaps
	}
	return sure(t.in(s.Raw) || s.Kind != wire.Stderr && t.inUnescaped(s.Raw))
}

type expressionTest struct{ re *regexp.Regexp }

func (expressionTest) needs() needs { return ofBytes }

func (t expressionTest) fits(s *Subject) verdict {
	if s.bare() {
		return perhaps
	}
	escapes := s.Kind != wire.Stderr && bytes.IndexByte(s.Raw, '\\') >= 0
	return sure(t.re.Match(s.Raw) || escapes && t.re.Match(unescaped(s.Raw)))
}

// A wholeTest asks for a frame that is nothing but a text, such as a line of
// stderr.
type wholeTest string

func (wholeTest) needs() needs { return ofBytes }

func (t wholeTest) fits(s *Subject) verdict {
	switch {
	case s.Size != int64(len(t)):
		return no
	case s.bare():
		return perhaps
	}
	return sure(string(s.Raw) == string(t))
}
