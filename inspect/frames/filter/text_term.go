package filter

import (
	"bytes"

	"github.com/acptap/acptap/proxy/wire"
)

// textTerm selects text anywhere in a frame, in its bytes as they are or with the escapes
// of JSON strings decoded. After = the text must be the whole frame, such as a line of
// stderr.
func textTerm(w written, _ string) (test, string) {
	p, problem := patternOf(w, contains)
	in := func(s *Subject) bool { return p.match(string(s.Raw)) }
	switch p := p.(type) {
	case *textSearch:
		in = func(s *Subject) bool { return p.in(s.Raw) || s.Kind != wire.Stderr && p.inUnescaped(s.Raw) }
	case expression:
		in = func(s *Subject) bool {
			escapes := s.Kind != wire.Stderr && bytes.IndexByte(s.Raw, '\\') >= 0
			return p.re.Match(s.Raw) || escapes && p.re.Match(unescaped(s.Raw))
		}
	}
	return test{ofBytes, func(s *Subject) verdict {
		switch whole, ok := p.(exact); {
		case ok && s.Size != int64(len(whole)):
			return no
		case s.bare():
			return perhaps
		}
		return sure(in(s))
	}, p}, problem
}
