package filter

import (
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// idTerm selects the id of a request and of its response. Ids are compared as text: 7
// matches 7 and "7".
func idTerm(w written, _ string) (test, string) {
	p, problem := patternOf(w, func(v string) pattern {
		if strings.Trim(v, "0123456789") == "" { // so that 1 does not match 17
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
