package rpc

import "github.com/acptap/acptap/proxy/dialect"

// Chosen says which part of a tape is played: all of it, or one session with the
// messages that belong to no session.
type Chosen struct {
	Session string            // empty: all
	Made    map[uint64]string // sessions by the number of the request that made or opened them
}

// Has reports whether the message with annotation a, in frame seq, is played. If one
// session is chosen, a request for a session that was never made is not played.
func (c *Chosen) Has(seq uint64, a *dialect.Annotation) bool {
	switch made := c.Made[seq]; {
	case c.Session == "", a.Session == c.Session:
		return true
	case a.Session != "":
		return false
	case made != "":
		return made == c.Session
	}
	m, _ := dialect.Lookup(dialect.AnyProtocol, a.Method)
	return !m.Role.Is(dialect.MakesSession)
}
