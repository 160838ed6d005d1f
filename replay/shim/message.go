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
func (m *message) param(path string) wire.Value { return get(m.env.Params, path) }

// get returns the value at a path, whose keys must not contain dots. If an object has a
// member twice, the last one counts: set changes that one, and peers read it.
func get(raw []byte, path string) wire.Value {
	keys := make([]string, 0, 4) // on the stack (BenchmarkPass)
	for key := range strings.SplitSeq(path, ".") {
		keys = append(keys, key)
	}
	return wire.ValueOf(wire.Get(raw, keys...))
}

// is reports whether a frame on the tape of this connection is the request m.
func (m *message) is(f *dialect.Frame) bool {
	return f.Kind == wire.Request && f.Method == string(m.env.Method) && bytes.Equal(f.Raw, m.Raw)
}

// clone returns a copy of the frame, with a copy of its bytes.
func (m *message) clone() wire.Frame {
	f := m.Frame
	f.Raw = bytes.Clone(f.Raw)
	return f
}

// patched returns the message with another value at a path.
func (m *message) patched(path string, value []byte) message {
	return m.rewritten(set(m.Raw, path, value))
}

// without returns the message without the value at a path.
func (m *message) without(path string) message {
	return m.rewritten(wire.Delete(m.Raw, strings.Split(path, ".")...))
}

// rewritten returns the message with other bytes.
func (m *message) rewritten(raw []byte) message {
	f := m.Frame
	f.Raw, f.Size, f.Origin = raw, int64(len(raw)), afterChange(f.Origin)
	return read(f)
}

// set sets the value at a path, whose keys must not contain dots. It makes the objects that
// are missing on the path.
func set(raw []byte, path string, value []byte) []byte {
	return wire.Set(raw, value, strings.Split(path, ".")...)
}

// errorCode returns the code of a response that is an error, otherwise 0.
func (m *message) errorCode() int { return errorCode(m.env.Error) }

func errorCode(err []byte) int { return int(get(err, "code").Int()) }

// again returns a frame that was held and may now go on.
func again(f wire.Frame) wire.Frame {
	f.Origin = afterChange(f.Origin)
	return f
}

// afterChange returns the origin of a frame that was changed or held. A frame that another
// interceptor made stays injected: neither side has sent it.
func afterChange(before wire.Origin) wire.Origin {
	if before == wire.Injected {
		return before
	}
	return wire.Rewritten
}
