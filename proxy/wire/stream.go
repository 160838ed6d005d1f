package wire

import "strings"

// A stream is one HTTP exchange or one WebSocket on a tape that has several of them.
// Streams are numbered from 1; 0 is the connection's own bytes, as over stdio.

// An HTTP is the head of a request, or of a response if Status is set.
type HTTP struct {
	Stream    uint64      `json:"stream"`           // its number on the tape, never used again
	Origin    Origin      `json:"origin,omitzero"`  // of a response: Injected if acptap gives it
	Method    string      `json:"method,omitempty"` // of a request
	Target    string      `json:"target,omitempty"` // of a request: path and query as they came
	Protocol  string      `json:"protocol,omitempty"`
	Guessed   bool        `json:"guessed,omitempty"`   // of a request: no id says which conversation it is of, and another client's may be on the tape
	Status    int         `json:"status,omitempty"`    // of a response
	Headers   []Header    `json:"headers,omitempty"`   // as they came
	Rewritten *HeadChange `json:"rewritten,omitempty"` // what of them went on otherwise
}

// Field returns the value of a header as it came: those of several lines with commas
// between, which mean the same (RFC 9110, section 5.2). ok is false if there is none.
func (h *HTTP) Field(name string) (value string, ok bool) {
	for i := range h.Headers {
		line := &h.Headers[i]
		switch {
		case !strings.EqualFold(line.Name, name):
		case ok:
			value += ", " + line.Value
		default:
			value, ok = line.Value, true
		}
	}
	return value, ok
}

// A Header is one line of a head. Of credentials, and of what means nothing to the
// protocols, the value is not kept.
type Header struct {
	Name        string   `json:"name"`
	Value       string   `json:"value,omitempty"`
	Length      int      `json:"length,omitempty"`      // bytes of a value that is not kept
	Scheme      string   `json:"scheme,omitempty"`      // of credentials, such as Bearer
	Cookies     []string `json:"cookies,omitempty"`     // the names of cookies
	Fingerprint string   `json:"fingerprint,omitempty"` // of credentials: 8 hex digits that are the same for the same value within one store
}

// HeaderValue returns the value of the first header with a name, as http.Header.Get does, or
// "" if there is none.
func HeaderValue(headers []Header, name string) string {
	for i := range headers {
		if strings.EqualFold(headers[i].Name, name) {
			return headers[i].Value
		}
	}
	return ""
}

// A HeadChange is what acptap changed in a head before it passed it on.
type HeadChange struct {
	Target  string   `json:"target,omitempty"`
	Status  int      `json:"status,omitempty"`
	Headers []Header `json:"headers,omitempty"` // new ones, and those with another value
	Removed []string `json:"removed,omitempty"` // names of headers that did not go on
}

// A StreamEnd is where one direction of a stream ended.
type StreamEnd struct {
	Stream uint64 `json:"stream"`
	Bytes  int64  `json:"bytes,omitempty"` // that its sender sent, framing included
	By     Peer   `json:"by"`              // who ended it
	Error  string `json:"error,omitempty"` // why it broke off; empty: it ended as it should

	Trailers []Header `json:"trailers,omitempty"` // headers after the body (RFC 9110, section 6.5)
}

// A Peer is one of those who can end a stream.
type Peer string

// The peers. The server counts as the agent.
const (
	ByClient Peer = "client"
	ByServer Peer = "server"
	ByAcptap Peer = "acptap"
)

// An SSE is an event of a text/event-stream that is no message: its fields, as the
// WHATWG HTML standard (section 9.2) reads them.
type SSE struct {
	ID    string `json:"id,omitempty"`
	Event string `json:"event,omitempty"`
	Retry string `json:"retry,omitempty"` // ms
	Data  string `json:"data,omitempty"`
	Size  int    `json:"size,omitempty"` // bytes of the data, if here is only its beginning
	Cut   bool   `json:"cut,omitempty"`  // the stream ended before the event, so the client ignored it
}

// A Close is one side's half of the closing handshake of a WebSocket (RFC 6455, section
// 5.5.1).
type Close struct {
	Code   int    `json:"code"` // 1005: none was given
	Reason string `json:"reason,omitempty"`
}

// A Piece is what a Decoder gives out: a frame, or a part of a long one, with the
// framing in front of it. Leads and bytes of all pieces in order are the stream, but for
// the bytes of those that are derived (Joiner). Its slices are valid during the call
// only.
type Piece struct {
	Lead    []byte // framing before Bytes; it may come in a piece of its own
	Bytes   []byte
	Kind    Kind   // Invalid: to be scanned, as JSON-RPC should be; Body, or Mark with a Marked as JSON
	Derived bool   // Bytes are made from Lead, which holds what crossed the wire
	Last    bool   // the frame ends here; else it goes on in the next piece
	EventID []byte // of an event that has one, nil if it has none; given with its first piece
}
