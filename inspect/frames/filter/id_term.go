package filter

import (
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// An idTest asks for the id of a request, which its response has too. It is
// compared as text: 7 is 7 and "7".
type idTest struct{ pattern pattern }

func idTerm(w written, _ string) (test, string) {
	p, problem := patternOf(w, func(v string) pattern {
		if strings.Trim(v, "0123456789") == "" { // 1 is not the beginning of 17
			return exact(v)
		}
		return prefix(v)
	})
	return idTest{p}, problem
}

func (idTest) needs() needs { return ofBytes }

func (t idTest) fits(s *Subject) verdict {
	switch s.Kind {
	case wire.Request, wire.Response, wire.Oversized, wire.Batch:
	default:
		return no
	}
	return s.messages(func(_ int, message []byte) bool { return t.in(message) })
}

func (t idTest) in(message []byte) bool {
	id := wire.Scan(message).ID
	switch {
	case id == nil:
		return false
	case id[0] == '"':
		return t.pattern.match(wire.ValueOf(id).Text())
	}
	return t.pattern.match(string(id))
}
