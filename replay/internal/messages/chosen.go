package messages

import "github.com/acptap/acptap/proxy/dialect"

// Chosen is what of a tape is played: one session with what belongs to none, or
// all.
type Chosen struct {
	Session string            // empty: all
	Made    map[uint64]string // sessions by the number of the request that made or opened them
}

// Has reports whether a message of a frame belongs to what is chosen. A request for
// a session that was never made belongs to none.
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
	return !m.MakesSession()
}
