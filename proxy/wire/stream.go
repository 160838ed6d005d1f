package wire

import "strings"

// A stream is one HTTP exchange or one WebSocket on a tape that has several. Streams are
// numbered from 1; 0 is the connection's own bytes, such as stdio.

// An HTTP is the head of a request, or of a response if Status is set.
type HTTP struct {
	Stream    uint64      `json:"stream"`           // number on the tape, never reused
	Origin    Origin      `json:"origin,omitzero"`  // of a response: Injected if acptap made it
	Method    string      `json:"method,omitempty"` // of a request
	Target    string      `json:"target,omitempty"` // of a request: path and query as sent
	Protocol  string      `json:"protocol,omitempty"`
	Guessed   bool        `json:"guessed,omitempty"`   // of a request: it carries no conversation id, so the tape may mix several clients' requests
	Status    int         `json:"status,omitempty"`    // of a response
	Headers   []Header    `json:"headers,omitempty"`   // as sent
	Rewritten *HeadChange `json:"rewritten,omitempty"` // what acptap changed before passing it on
}

// Field returns the value of a header as sent. Repeated headers are joined with commas,
// which is equivalent (RFC 9110, section 5.2). ok is false if there is none.
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

// A Header is one header line. Values of credentials, and of headers that mean nothing to
// the protocols, are not kept.
type Header struct {
	Name        string   `json:"name"`
	Value       string   `json:"value,omitempty"`
	Length      int      `json:"length,omitempty"`      // bytes of a value that was not kept
	Scheme      string   `json:"scheme,omitempty"`      // of credentials, such as Bearer
	Cookies     []string `json:"cookies,omitempty"`     // the names of cookies
	Fingerprint string   `json:"fingerprint,omitempty"` // of credentials: 8 hex digits, equal for equal values within one store
}

// HeaderValue returns the value of the first header with a name, as http.Header.Get does,
// or "" if there is none.
func HeaderValue(headers []Header, name string) string {
	for i := range headers {
		if strings.EqualFold(headers[i].Name, name) {
			return headers[i].Value
		}
	}
	return ""
}

// A HeadChange is what acptap changed in a head before passing it on.
type HeadChange struct {
	Target  string   `json:"target,omitempty"`
	Status  int      `json:"status,omitempty"`
	Headers []Header `json:"headers,omitempty"` // new or changed headers
	Removed []string `json:"removed,omitempty"` // names of headers not passed on
}

// A StreamEnd says where one direction of a stream ended.
type StreamEnd struct {
	Stream uint64 `json:"stream"`
	Bytes  int64  `json:"bytes,omitempty"` // bytes sent, framing included
	By     Peer   `json:"by"`              // who ended it
	Error  string `json:"error,omitempty"` // why it broke off; empty if it ended normally

	Trailers []Header `json:"trailers,omitempty"` // headers after the body (RFC 9110, section 6.5)
}

// A Peer is the side that ended a stream.
type Peer string

// The peers. The server counts as the agent.
const (
	ByClient Peer = "client"
	ByServer Peer = "server"
	ByAcptap Peer = "acptap"
)

// An SSE is an event in a text/event-stream that is not a message: its fields, read
// according to the WHATWG HTML standard (section 9.2).
type SSE struct {
	ID    string `json:"id,omitempty"`
	Event string `json:"event,omitempty"`
	Retry string `json:"retry,omitempty"` // ms
	Data  string `json:"data,omitempty"`
	Size  int    `json:"size,omitempty"` // bytes of the data, if Data holds only the beginning
	Cut   bool   `json:"cut,omitempty"`  // the stream ended before the event did, so the client ignored it
}

// A Close is one side's half of a WebSocket's closing handshake (RFC 6455, section 5.5.1).
type Close struct {
	Code   int    `json:"code"` // 1005 if none was sent
	Reason string `json:"reason,omitempty"`
}

// A Piece is what a Decoder emits: a frame or a part of a long one, with the framing
// before it. The leads and bytes of all pieces in order make up the stream, except that
// Derived bytes are not part of it (see Joiner). Its slices are valid only during the
// call.
type Piece struct {
	Lead    []byte // framing before Bytes; may be a piece by itself
	Bytes   []byte
	Kind    Kind   // Invalid: to be scanned as JSON-RPC; Body; or Mark, whose Bytes are a Marked as JSON
	Derived bool   // Bytes are made from Lead, which holds what crossed the wire
	Last    bool   // the frame ends here; otherwise it continues in the next piece
	EventID []byte // the event's id, in its first piece; nil if it has none
}
