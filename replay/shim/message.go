package shim

import (
	"bytes"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A message is a frame with its envelope.
type message struct {
	wire.Frame
	env wire.Envelope
}

// does reports whether the method of m has one of the roles.
func (m message) does(oneOf dialect.Role) bool {
	return dialect.RoleOf(dialect.ACP, string(m.env.Method)).Is(oneOf)
}

// read reads the envelope of a frame.
func read(f wire.Frame) message { return message{f, wire.ScanWhole(f.Raw)} }

// param returns the value at a path in params.
func (m *message) param(path string) wire.Value { return m.env.Params.Get(path) }

// is reports whether a frame on this connection's tape is the request m.
func (m *message) is(f *dialect.Frame) bool {
	return f.Kind == wire.Request && f.Method == string(m.env.Method) && bytes.Equal(f.Raw, m.Raw)
}

// clone returns a copy of the frame, with a copy of its bytes.
func (m *message) clone() wire.Frame {
	f := m.Frame
	f.Raw = bytes.Clone(f.Raw)
	return f
}

// patched returns the message with the value at a path replaced.
func (m *message) patched(path string, value []byte) message {
	return m.rewritten(set(m.Raw, path, value))
}

// without returns the message without the value at a path.
func (m *message) without(path string) message {
	return m.rewritten(wire.Delete(m.Raw, strings.Split(path, ".")...))
}

// rewritten returns the message with its bytes replaced.
func (m *message) rewritten(raw []byte) message {
	f := m.Frame
	f.Raw, f.Size, f.Origin = raw, int64(len(raw)), afterChange(f.Origin)
	return read(f)
}

// set sets the value at a path, whose keys must not contain dots. It creates missing
// objects along the path.
func set(raw []byte, path string, value []byte) []byte {
	return wire.Set(raw, value, strings.Split(path, ".")...)
}

// errorCode returns the code of an error response, or 0.
func (m *message) errorCode() int { return errorCode(m.env.Error) }

func errorCode(err []byte) int { return int(wire.ValueAt(err, "code").Int()) }

// released returns a frame that was held and now continues, with the origin of a delayed
// frame.
func released(f wire.Frame) wire.Frame {
	f.Origin = afterChange(f.Origin)
	return f
}

// afterChange returns the origin of a frame that was changed or held. A frame made by
// another interceptor stays injected: neither side has sent it.
func afterChange(before wire.Origin) wire.Origin {
	if before == wire.Injected {
		return before
	}
	return wire.Rewritten
}

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

// unreadable is the answer to a request that needs something unreadable in the store.
func unreadable(what string, err error) fault {
	return fault{wire.InternalError, "the " + what + " cannot be read: " + err.Error(), nil}
}

// fail answers the request m with an error.
func (m *message) fail(e fault) wire.Frame {
	return wire.Frame{Dir: m.Dir.Opposite(), Raw: wire.NewFailure(m.env.ID, e.code, e.message, e.data)}
}
