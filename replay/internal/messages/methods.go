package messages

import (
	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Kind returns what a message is, also one that is too large to be checked.
func Kind(e wire.Envelope) wire.Kind {
	if e.Kind != wire.Oversized {
		return e.Kind
	}
	switch {
	case e.Method != nil && e.ID != nil:
		return wire.Request
	case e.Method != nil:
		return wire.Notification
	case e.ID != nil:
		return wire.Response
	}
	return wire.Invalid
}

// Addressee returns the session that a message of a method names itself. Those of
// next-edit suggestions are of another kind.
func Addressee(method string, e wire.Envelope) string {
	if OfEditSession(method) {
		return ""
	}
	for _, id := range [][]byte{
		wire.Get(e.Params, "sessionId"),
		e.Session,
		wire.Get(e.Params, "_meta", "io.modelcontextprotocol/session", "sessionId"),
	} {
		if id := gjson.ParseBytes(id); id.Type == gjson.String {
			return id.Str
		}
	}
	return ""
}

// OfEditSession reports whether what a method calls a session is one of next-edit
// suggestions.
func OfEditSession(method string) bool {
	m, ok := dialect.Lookup(dialect.ACP, method)
	return ok && (m.Session == dialect.OtherParams || m.Session == dialect.OtherResult)
}

// PassesOn reports whether frames of a method have other frames inside, which a
// component of a proxy chain passes on in the order in which it got them.
func PassesOn(method string) bool {
	m, ok := dialect.Lookup(dialect.ACP, method)
	return ok && m.Session == dialect.Inside
}

// MakesSession reports whether a request of a method makes a session whose id its
// answer tells.
func MakesSession(method string) bool {
	m, _ := dialect.Lookup(dialect.AnyProtocol, method)
	return m.MakesSession()
}

// SetsUp reports whether a method sets up a session of ACP.
func SetsUp(method string) bool { return dialect.EffectOf(dialect.ACP, method) == dialect.Opens }
