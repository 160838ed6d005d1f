package filter

import (
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// idTerm asks for the id of a request, which its response has too. It is compared as text:
// 7 is 7 and "7".
func idTerm(w written, _ string) (test, string) {
	p, problem := patternOf(w, func(v string) pattern {
		if strings.Trim(v, "0123456789") == "" { // 1 is not the beginning of 17
			return exact(v)
		}
		return prefix(v)
	})
	return test{reads: ofBytes, ask: func(s *Subject) verdict {
		switch s.Kind {
		case wire.Request, wire.Response, wire.Oversized, wire.Batch:
			return s.messages(func(_ int, message []byte) bool {
				id := wire.Scan(message).ID
				return id != nil && p.match(textOf(wire.ValueOf(id)))
			})
		}
		return no
	}}, problem
}
