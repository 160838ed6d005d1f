package shim

import "github.com/acptap/acptap/proxy/wire"

// A fault is an error with which the shim fails a request.
type fault struct {
	code    int
	message string
	data    []byte // JSON; nil: none
}

func (e fault) Error() string { return e.message }

// noSession is the answer to a request that names no session.
var noSession = fault{wire.InvalidParams, "sessionId is missing or not a string", nil}

// notFound is the answer to a request for a session that does not exist.
func notFound(id string) fault {
	return fault{wire.ResourceNotFound, "Session not found", members(nil).add("sessionId", wire.Quote(id)).object()}
}

// unreadable is the answer to a request that needs something unreadable from the store.
func unreadable(what string, err error) fault {
	return fault{wire.InternalError, "the " + what + " cannot be read: " + err.Error(), nil}
}

// fail answers the request m with an error.
func (m *message) fail(e fault) wire.Frame {
	return wire.Frame{Dir: 1 - m.Dir, Raw: wire.NewFailure(m.env.ID, e.code, e.message, e.data)}
}
