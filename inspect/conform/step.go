package conform

import (
	"strconv"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Step is one message as the rules see it, or the end of the connection: Frame is then
// the last frame and there is no message. It is valid only during Check.
type Step struct {
	Frame    *dialect.Frame
	Envelope wire.Envelope
	About    *dialect.Annotation // for a batch, that of the entry
	Entry    int                 // index in the batch; -1: no batch
	From     Fault               // who sent it: Client or Agent
	Method   string              // of a response, its request's method; empty: unknown
	Update   string              // variant of session/update
	Entity   dialect.Entity      // what the update concerns
	Call     *Call               // the request that a response answers; nil: none is known
	Conn     *connection
	Session  *session  // that it belongs to; nil: none, or unknown on this connection
	Exchange *exchange // of a step of kind Exchanges, which has no message

	judge    *judge
	entry    []byte // its bytes, in a batch
	entityID []byte // nil: not looked up yet
	resent   resent // of its tool call, after it; updates 0: not computed yet
}

// Kind returns the kind of the message.
func (s *Step) Kind() wire.Kind {
	if s.Entry >= 0 {
		return s.Envelope.Kind
	}
	return s.Frame.Kind
}

// is reports whether the message is of a given kind, even if it is too large to be read
// completely.
func (s *Step) is(k wire.Kind) bool {
	kind := s.Kind()
	return kind == k || kind == wire.Oversized && s.Envelope.MessageKind() == k
}

// raw returns the bytes of the message.
func (s *Step) raw() []byte {
	if s.Entry < 0 {
		return s.Frame.Raw
	}
	return s.entry
}

// sessionID returns the ID of the step's session; empty: none. A response belongs to the
// session that its request named, because acptap may have given the other side a
// different ID.
func (s *Step) sessionID() string {
	if s.Call == nil || s.Call.Session == "" || s.About.Session != "" && s.About.MakesSession() {
		return s.About.Session
	}
	return s.Call.Session
}

// Succeeded reports whether the step is a response without an error.
func (s *Step) Succeeded() bool { return s.Kind() == wire.Response && s.Envelope.Error == nil }

// code returns an error's code; 0 if there is none.
func code(e []byte) int64 {
	n, _ := wire.Integer(wire.Get(e, "code"))
	return n
}

// Param returns the value at a path in the params, as JSON; nil if there is none.
func (s *Step) Param(path ...string) []byte {
	params := s.Envelope.Params
	if len(params) == 0 || len(path) == 0 {
		return nil
	}
	if path[0] != "update" || len(path) == 1 {
		return s.judge.params.get(params, path)
	}
	return s.judge.update.get(s.judge.params.get(params, path[:1]), path[1:])
}

// Result returns the value at a path in the result, as JSON; nil if there is none.
func (s *Step) Result(path ...string) []byte { return wire.Get(s.Envelope.Result, path...) }

// EntityID returns the id of the message or tool call that an update concerns, as JSON;
// nil if there is none.
func (s *Step) EntityID() []byte {
	if s.entityID == nil {
		key := "messageId"
		if s.Entity == dialect.ToolCall {
			key = "toolCallId"
		}
		s.entityID = s.Param("update", key)
	}
	return s.entityID
}

// Moment returns when the step's frame passed.
func (s *Step) Moment() Moment { return momentOf(s.Frame) }

func momentOf(f *dialect.Frame) Moment { return Moment{f.Seq, f.At, f.Untimed} }

// HasRead reports whether the step's sender must have read an earlier frame sent to it:
// the grace period has passed, or the sender has answered something later. Peers read one
// stream in order; over HTTP there are several.
func (s *Step) HasRead(m Moment) bool {
	if s.Conn.read[s.From] >= m.Seq && !s.Conn.http.several {
		return true
	}
	return !m.Untimed && !s.Frame.Untimed && s.Frame.At-m.At > s.judge.checker.options.Grace
}

// After describes how long after a moment the step came, as "12 ms after "; without the
// time if it is unknown.
func (s *Step) After(m Moment) string {
	d, ok := since(m, s.Moment())
	switch {
	case !ok:
		return "after "
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms after "
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s after "
}

// A Moment is when a frame passed.
type Moment struct {
	Seq     uint64 // 0: there is none
	At      time.Duration
	Untimed bool
}

// maxMembers limits the members of an object that are remembered; messages in both
// protocols have fewer.
const maxMembers = 16

// members are those of a JSON object, found in one pass, since many rules ask for members
// of the same object (BenchmarkCheck).
type members struct {
	known  bool
	n      int
	names  [maxMembers][]byte
	values [maxMembers][]byte
}

// get returns the value at a path in the object; nil if there is none. The path's first
// key must not be empty.
func (m *members) get(object []byte, path []string) []byte {
	if !m.known {
		m.read(object)
	}
	if m.n > maxMembers {
		return wire.Get(object, path...)
	}
	for i := m.n - 1; i >= 0; i-- { // the last of duplicate members counts, as in wire.Get
		if string(m.names[i]) == path[0] {
			return wire.Get(m.values[i], path[1:]...)
		}
	}
	return nil
}

func (m *members) read(object []byte) {
	m.known, m.n = true, 0
	for name, value := range wire.Members(object) {
		if m.n++; m.n > maxMembers {
			return
		}
		m.names[m.n-1], m.values[m.n-1] = name, value
	}
}

// isString reports whether JSON is a string.
func isString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// number formats a frame number.
func number(seq uint64) string { return strconv.FormatUint(seq, 10) }
