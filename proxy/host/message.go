package host

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/acptap/acptap/proxy/wire"
)

// A message is one JSON-RPC message with its envelope.
type message struct {
	wire.Envelope
	line []byte
}

// read reads a message of any length.
func read(line []byte) message { return message{wire.ScanWhole(line), line} }

// Error codes besides those of JSON-RPC: one that MCP leaves to servers, and the one for an
// unknown session from the draft of data-layer sessions.
const (
	noRoom         = -32000
	unknownSession = -32043
)

// outward returns the form in which the client sees a process's id or progress token,
// unique among all processes. Those of the first process do not change, unless they look
// like such a form.
func outward(p *process, id []byte) []byte {
	if _, _, ok := inward(id); p.number == 1 && !ok {
		return id
	}
	return wire.Quote("s" + strconv.Itoa(p.number) + ":" + string(id))
}

// inward parses what outward returns: the number of the process, and the id as the process
// wrote it.
func inward(id []byte) (number int, own []byte, ok bool) {
	text, ok := wire.Unquote(id)
	if !ok || len(text) == 0 || text[0] != 's' {
		return 0, nil, false
	}
	digits, own, ok := bytes.Cut(text[1:], []byte(":"))
	number, err := strconv.Atoi(string(digits))
	if !ok || err != nil || number < 1 || !json.Valid(own) || bytes.ContainsAny(own, "\r\n") {
		return 0, nil, false
	}
	return number, own, true
}

// maxLine limits the length of a message.
const maxLine = 64 << 20

// lines cuts a stream into messages.
type lines struct {
	handle func(line []byte, end wire.LineEnd) // handles a message; line is valid only during the call

	// cut handles a piece of an overlong message. first and last say whether it is the
	// first or the last one.
	cut func(piece []byte, end wire.LineEnd, first, last bool)

	splitter wire.Splitter
	inside   bool // inside an overlong message
}

func (l *lines) feed(b []byte) {
	l.splitter.Limit = maxLine
	l.splitter.Feed(b, l.piece)
}

func (l *lines) flush() { l.splitter.Flush(l.piece) }

func (l *lines) piece(piece []byte, end wire.LineEnd, last bool) {
	if l.inside || !last {
		l.cut(piece, end, !l.inside, last)
		l.inside = !last
		return
	}
	l.handle(piece, end)
	if cap(l.splitter.Pending) > wire.MaxChecked {
		l.splitter.Pending = nil // Feed then starts with an empty one
	}
}
