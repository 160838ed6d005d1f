package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/acptap/acptap/proxy/wire"
)

// A message is one JSON-RPC message with its envelope.
type message struct {
	wire.Envelope
	line []byte
}

// read reads a message of any length.
func read(line []byte) message {
	m := message{wire.Scan(line), line}
	if m.Kind != wire.Oversized || !json.Valid(line) {
		return m
	}
	get := func(key string) []byte {
		if value := wire.Get(line, key); len(value) > 0 {
			return value
		}
		return nil
	}
	method, _ := wire.Unquote(get("method"))
	m.Envelope = wire.Envelope{
		Kind: wire.Oversized, Method: method, ID: get("id"), Params: get("params"),
		Result: get("result"), Error: get("error"), Session: get("sessionId"),
	}
	m.Kind = m.MessageKind()
	return m
}

// is reports whether a value is there, and not null.
func is(value []byte) bool { return len(value) > 0 && string(value) != "null" }

// quote returns a text as JSON.
func quote(text string) []byte {
	b, _ := json.Marshal(text) // does not fail for a string
	return b
}

// result returns a response with a result.
func result(id, value []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, value)
}

// The codes of errors. Those of JSON-RPC 2.0, one that MCP leaves to servers, and that of
// the draft of data-layer sessions for a session that is not known.
const (
	noRoom         = -32000
	unknownSession = -32043
	invalidRequest = -32600
	noMethod       = -32601
	invalidParams  = -32602
	internalError  = -32603
)

// failure returns a response with an error. data is JSON, or nil.
func failure(id []byte, code int, text string, data []byte) []byte {
	e := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s`, id, code, quote(text))
	if data != nil {
		e = append(append(e, `,"data":`...), data...)
	}
	return append(e, "}}"...)
}

// outward returns an id or a progress token of a process as the client gets it: unique
// among those of all processes. Those of the first process stay as they are, unless they
// look like one of these.
func outward(p *process, id []byte) []byte {
	if _, _, ok := inward(id); p.number == 1 && !ok {
		return id
	}
	return quote("s" + strconv.Itoa(p.number) + ":" + string(id))
}

// inward reads what outward returns: the number of the process, and the id as that
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
