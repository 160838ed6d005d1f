package shim

import (
	"crypto/rand"
	"fmt"

	"github.com/acptap/acptap/proxy/dialect"
)

// address returns where a request or notification has the id of the session
// that it is for, as a path in the frame; empty if nowhere. Ids of next-edit
// suggestions are of another kind. A method that is in no table may have one at
// the usual place. What one component of a proxy chain passes to the next has
// it inside.
func address(method string, params []byte) string {
	const usual = "params.sessionId"
	switch m, known := dialect.Lookup(dialect.ACP, method); {
	case !known:
		return usual
	case m.Session == dialect.InParams, m.Session == dialect.FromParams, m.Session == dialect.InParamsOrByID:
		return usual
	case m.Session == dialect.Inside:
		path := "params"
		for range maxInside {
			inner := get(params, "method").Str
			params = []byte(get(params, "params").Raw)
			m, known := dialect.Lookup(dialect.ACP, inner)
			path += ".params"
			if known && m.Session != dialect.Inside {
				if at := address(inner, params); at != "" {
					return path + at[len("params"):]
				}
				return ""
			}
			if !known {
				return path + ".sessionId"
			}
		}
	}
	return ""
}

// maxInside is how many components of a proxy chain may have passed a frame on.
// Each adds one wrapping.
const maxInside = 16

// alias returns another name for a session, where the agent gives it one that
// an earlier session has.
func alias(agent string) string {
	var b [4]byte
	rand.Read(b[:])
	return fmt.Sprintf("%s~%x", agent, b)
}
