package shim

import (
	"bytes"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A message is a frame with its envelope.
type message struct {
	wire.Frame
	env wire.Envelope
}

// read reads the envelope of a frame.
func read(f wire.Frame) message {
	m := message{f, wire.Scan(f.Raw)}
	if m.env.Kind == wire.Oversized {
		m.env = outside(f.Raw)
	}
	return m
}

// outside reads the envelope of a whole frame of which wire.Scan reads only the
// beginning: the id of the session may stand in the rest.
func outside(raw []byte) wire.Envelope {
	e := wire.Envelope{Kind: wire.Invalid}
	wire.ValueOf(raw).ForEach(func(key, v wire.Value) bool {
		switch key.Text() {
		case "id":
			e.ID = []byte(v.Raw())
		case "method":
			e.Method = []byte(v.Text())
		case "params":
			e.Params = []byte(v.Raw())
		case "result":
			e.Result = []byte(v.Raw())
		case "error":
			e.Error = []byte(v.Raw())
		default:
			return true
		}
		e.Kind = wire.Oversized
		return true
	})
	return e
}

// param returns the value at a path in params.
func (m *message) param(path string) wire.Value { return get(m.env.Params, path) }

// get returns the value at a path, whose keys have no dots in them. Of members that occur
// twice the last one counts: set changes that one, and peers read it.
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

// again returns a frame that was held back, to pass it on after all.
func again(f wire.Frame) wire.Frame {
	f.Origin = afterChange(f.Origin)
	return f
}

// afterChange returns the origin of a frame that was changed or held back. A frame that
// another interceptor made stays injected: neither side has sent it.
func afterChange(before wire.Origin) wire.Origin {
	if before == wire.Injected {
		return before
	}
	return wire.Rewritten
}

// A fault is an error with which the shim answers a request.
type fault struct {
	code    int
	message string
	data    []byte // JSON; nil: none
}

func (e fault) Error() string { return e.message }

// noSession is the answer to a request that names no session.
var noSession = fault{rpc.InvalidParams, "sessionId is missing or not a string", nil}

// notFound is the answer to a request for a session that does not exist.
func notFound(id string) fault {
	return fault{rpc.ResourceNotFound, "Session not found", members(nil).add("sessionId", quote(id)).object()}
}

// unreadable is the answer to a request that needs something which cannot be read from
// the store.
func unreadable(what string, err error) fault {
	return fault{rpc.InternalError, "the " + what + " cannot be read: " + err.Error(), nil}
}

// fail answers a request of the frame's sender with an error.
func (m *message) fail(e fault) wire.Frame {
	return wire.Frame{Dir: 1 - m.Dir, Raw: rpc.Failure(m.env.ID, e.code, e.message, e.data)}
}

// quote returns text as JSON.
func quote(text string) []byte { return wire.AppendText(nil, text) }

// members are the members of a JSON object, as JSON.
type members []byte

// add appends a member, unless its value is nil.
func (m members) add(name string, value []byte) members {
	if value == nil {
		return m
	}
	if len(m) > 0 {
		m = append(m, ',')
	}
	m = append(wire.AppendText(m, name), ':')
	return append(m, value...)
}

// text appends a member that is a string, unless it is empty.
func (m members) text(name, value string) members {
	if value == "" {
		return m
	}
	return m.add(name, quote(value))
}

// object returns the object that has the members.
func (m members) object() []byte {
	b := append(make([]byte, 0, len(m)+2), '{')
	return append(append(b, m...), '}')
}
