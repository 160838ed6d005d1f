package wire

import (
	"bytes"
	"unicode/utf8"
)

// Limits of what Scan checks. A frame that exceeds them is Oversized.
const (
	MaxChecked = 1 << 20 // bytes of a frame
	MaxDepth   = 10_000  // nested arrays and objects, as in encoding/json
)

// An Envelope holds the members of a JSON-RPC message that JSON-RPC 2.0 defines. Its
// slices point into the frame, or, if the frame has members overridden by a later one of
// the same name, into a copy without those. For an Oversized frame they hold what could
// be read; the last of them may be cut off, unless it is an id.
type Envelope struct {
	Kind    Kind
	ID      []byte // JSON as sent, such as `7`, `"7"` or `1.0`; nil if there is none. `7` and `"7"` are different ids (JSON-RPC 2.0, section 4)
	Method  []byte // decoded, without quotes; nil if there is none
	Params  JSON   // nil if there is none
	Result  JSON   // nil if there is none
	Error   JSON   // nil if there is none
	Session JSON   // a `sessionId` member next to `method` or `result` (MCP SEP-1364); nil if there is none

	// Repeats reports whether an object in the frame, at any depth, has two members of
	// one name: see [Repeats].
	Repeats bool
}

// MessageKind returns the kind of a message. For an Oversized one it guesses from the
// members that could be read, and returns Invalid if they are inconclusive.
func (e Envelope) MessageKind() Kind {
	switch {
	case e.Kind != Oversized:
		return e.Kind
	case e.Method != nil && e.ID != nil:
		return Request
	case e.Method != nil:
		return Notification
	case e.ID != nil:
		return Response
	}
	return Invalid
}

// Scan reads the envelope of a frame in one pass and determines whether the frame is JSON
// at all. It never fails: anything that is not a message has the kind Invalid. It does
// not recurse. It allocates only for names written with escapes, for objects with very
// many or repeated members, and for very deep nesting.
func Scan(frame []byte) Envelope {
	if len(frame) > MaxChecked {
		return ScanPrefix(frame[:MaxChecked])
	}
	s := scanner{b: frame}
	e := s.message()
	if s.names.repeat {
		return scanDistinct(frame, e, false)
	}
	return e
}

// ScanWhole is Scan for a message of any length, whose members it reads wherever they
// are. For text that is not JSON it returns what Scan does.
func ScanWhole(message []byte) Envelope {
	e := Scan(message)
	if e.Kind != Oversized || !IsJSON(message) {
		return e
	}
	counts := withoutRepeats(message)
	member := func(key string) []byte { return Get(counts, key) }
	method, _ := Unquote(member("method"))
	e = Envelope{
		Kind: Oversized, Method: method, ID: member("id"), Params: member("params"),
		Result: member("result"), Error: member("error"), Session: member("sessionId"),
		Repeats: len(counts) < len(message),
	}
	e.Kind = e.MessageKind()
	return e
}

// ScanPrefix is Scan for the beginning of a frame. The kind is Oversized, or Invalid if the
// beginning already shows that.
func ScanPrefix(beginning []byte) Envelope {
	s := scanner{b: beginning, cut: true}
	e := s.message()
	if s.names.repeat {
		return scanDistinct(beginning, e, true)
	}
	return e
}

// scanDistinct returns the envelope of a frame without the members that do not count, or e
// if all do.
func scanDistinct(frame []byte, e Envelope, cut bool) Envelope {
	distinct := withoutRepeats(frame)
	if e.Kind == Invalid || len(distinct) == len(frame) {
		return e
	}
	s := scanner{b: distinct, cut: cut}
	e = s.message()
	e.Repeats = true
	return e
}

// Entries calls yield for each entry of a frame of the kind Batch, with its index, until
// yield returns false.
func Entries(batch []byte, yield func(i int, entry []byte) bool) {
	Elements(bytes.TrimLeft(batch, " \t\r\n"))(yield)
}

// shape records which members the object has, including those with unusable values.
type shape struct {
	method, badMethod, id, result, err bool
}

func (s *scanner) message() Envelope {
	s.blanks()
	if s.i == len(s.b) {
		return Envelope{Kind: Invalid}
	}
	whole := false
	switch s.b[s.i] {
	case '{':
		whole = s.envelope()
	case '[':
		s.env.Kind = Batch
		whole = s.value()
	default:
		return Envelope{Kind: Invalid}
	}
	if whole {
		s.blanks()
		whole = s.i == len(s.b)
	}
	switch {
	case s.deep, s.cut && s.i == len(s.b):
		s.env.Kind = Oversized
		return s.env
	case !whole, s.high && !utf8.Valid(s.b):
		return Envelope{Kind: Invalid}
	case s.env.Kind == Batch:
		return s.env
	}
	switch h := s.shape; {
	case h.badMethod:
		return Envelope{Kind: Invalid}
	case h.method && h.id:
		s.env.Kind = Request
	case h.method:
		s.env.Kind = Notification
	case h.id, h.result, h.err:
		s.env.Kind = Response
	default:
		return Envelope{Kind: Invalid}
	}
	return s.env
}

// envelope reads the outermost object.
func (s *scanner) envelope() bool {
	s.i++
	s.blanks()
	if s.i < len(s.b) && s.b[s.i] == '}' {
		s.i++
		return true
	}
	for {
		key, ok := s.key()
		if !ok {
			return false
		}
		name := key[1 : len(key)-1]
		if s.escaped {
			name = unquote(key)
		}
		start := s.i
		ok = s.value()
		s.member(name, s.b[start:s.i:s.i])
		if !ok {
			return false
		}
		s.blanks()
		if s.i == len(s.b) {
			return false
		}
		switch s.b[s.i] {
		case '}':
			s.i++
			return true
		case ',':
			s.i++
			s.blanks()
		default:
			return false
		}
	}
}

func (s *scanner) member(key, value []byte) {
	switch string(key) {
	case "id":
		s.shape.id = true
		if len(value) > 0 && !(s.cut && s.i == len(s.b)) { // otherwise it was cut off
			s.env.ID = value
		}
	case "method":
		s.shape.method, s.shape.badMethod = true, len(value) == 0 || value[0] != '"'
		if !s.shape.badMethod {
			s.env.Method = unquote(value)
		}
	case "params":
		s.env.Params = value
	case "result":
		s.env.Result, s.shape.result = value, true
	case "error":
		s.env.Error, s.shape.err = value, true
	case "sessionId":
		s.env.Session = value
	}
}

// TailSize is the number of bytes from the end of a long message that LastID needs.
const TailSize = 256

// LastID returns the id of a message longer than MaxChecked if it follows the large
// members, as in messages from the MCP SDK for TypeScript, and its position in end, the
// end of the message. The id is nil if there is none.
func LastID(end []byte) (id []byte, at int) {
	const key = `"id"`
	i := bytes.LastIndex(end, []byte(key))
	if i < 0 {
		return nil, 0
	}
	// An id inside a nested object is followed by one closing bracket too many.
	e := Scan(append([]byte{'{'}, end[i:]...))
	if e.Kind != Response || len(e.ID) == 0 || e.ID[0] == 'n' || e.ID[0] == '{' || e.ID[0] == '[' {
		return nil, 0
	}
	value := bytes.TrimLeft(end[i+len(key):], " \t\r\n:")
	return e.ID, len(end) - len(value)
}
