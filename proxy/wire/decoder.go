package wire

import (
	"bytes"
	"mime"
	"strings"
)

// A Decoder cuts one direction of a stream into pieces: a request body, a response body, or
// a WebSocket. Exactly one field is set. Its JSON is its whole state: a Decoder unmarshaled
// from it continues where the other stopped. The pieces do not depend on how the bytes are
// divided into calls of Feed.
type Decoder struct {
	Events *EventDecoder  `json:"sse,omitempty"`
	Socket *SocketDecoder `json:"ws,omitempty"`
	Body   *BodyDecoder   `json:"body,omitempty"`
}

// NewDecoder returns the Decoder for what follows a head with the given status (0 for a
// request) and header fields; field is Get of an http.Header. After an upgrade, the
// status of the response decides for both directions.
func NewDecoder(status int, field func(name string) string) Decoder {
	if status == 101 && strings.EqualFold(field("Upgrade"), "websocket") {
		return Decoder{Socket: new(SocketDecoder)}
	}
	if e := field("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return Decoder{Body: new(BodyDecoder)} // compressed: not read
	}
	kind, _, _ := mime.ParseMediaType(field("Content-Type")) // the type is returned even if a parameter is bad
	if kind == "text/event-stream" {
		return Decoder{Events: new(EventDecoder)}
	}
	return Decoder{Body: &BodyDecoder{JSON: kind == "application/json" || strings.HasSuffix(kind, "+json")}}
}

// Feed reads the next bytes, and calls emit for each piece that they complete. It does
// not keep p.
func (d *Decoder) Feed(p []byte, emit func(Piece)) {
	switch {
	case d.Events != nil:
		d.Events.Feed(p, emit)
	case d.Socket != nil:
		d.Socket.Feed(p, emit)
	case d.Body != nil:
		d.Body.Feed(p, emit)
	}
}

// Flush emits the frame that the end of the stream left unfinished. It returns the
// framing after the last frame, which becomes the lead of the following mark; it is valid
// until the next call.
func (d *Decoder) Flush(emit func(Piece)) (rest []byte) {
	switch {
	case d.Events != nil:
		return d.Events.Flush(emit)
	case d.Socket != nil:
		return d.Socket.Flush(emit)
	case d.Body != nil:
		return d.Body.Flush(emit)
	}
	return nil
}

// Gap is Flush for a stream that continues after an unknown number of missing bytes.
func (d *Decoder) Gap(emit func(Piece)) (rest []byte) {
	rest = d.Flush(emit)
	switch {
	case d.Events != nil:
		d.Events.Began = true
	case d.Socket != nil:
		d.Socket.Lost = true
	}
	return rest
}

// Pending returns the number of bytes held until their frame ends.
func (d *Decoder) Pending() int {
	switch {
	case d.Events != nil:
		return len(d.Events.Pending)
	case d.Socket != nil:
		return len(d.Socket.Pending)
	case d.Body != nil:
		return len(d.Body.Pending)
	}
	return 0
}

// Spill emits pending bytes as if their frame had reached the limit; the frame continues in
// later pieces.
func (d *Decoder) Spill(emit func(Piece)) {
	switch {
	case d.Pending() == 0:
	case d.Events != nil:
		d.Events.spill(emit)
	case d.Socket != nil:
		d.Socket.spill(emit)
	case d.Body != nil:
		d.Body.spill(emit)
	}
}

// maxFraming limits the bytes of framing, such as comments and pings that keep an idle
// stream open, that are held until a frame follows. Beyond it they get a mark of their
// own.
const maxFraming = 4 << 10

// framing returns the piece for bytes without a frame.
func framing(lead []byte) Piece {
	return markPiece(lead, Marked{Framing: int64(len(lead))})
}

func markPiece(lead []byte, m Marked) Piece {
	return Piece{Lead: lead, Bytes: m.JSON(), Kind: Mark, Derived: true, Last: true}
}

// A pendingScanner finds frames in pending bytes.
type pendingScanner interface {
	scan(emit func(Piece))  // emits the complete frames
	spill(emit func(Piece)) // emits part of an unfinished frame
}

// feed appends p to pending, at most one byte beyond the limit at a time, and scans it.
func feed(s pendingScanner, pending *[]byte, limit int, p []byte, emit func(Piece)) {
	limit = limitOr(limit)
	for len(p) > 0 {
		n := min(len(p), limit+1-len(*pending))
		*pending = append(*pending, p[:n]...)
		start := (*pending)[:0]
		s.scan(emit)
		if len(*pending) > limit {
			s.spill(emit)
		}
		*pending = settle(start, *pending)
		p = p[n:]
	}
}

// settle moves pending to the start of its buffer, or to a new one if the buffer was large
// for one long frame.
func settle(start, pending []byte) []byte {
	const large = 256 << 10
	if cap(start) > large && len(pending) <= maxFraming {
		return bytes.Clone(pending)
	}
	return append(start, pending...)
}

func limitOr(limit int) int {
	if limit == 0 {
		return MaxChecked
	}
	return max(limit, 256) // more than the longest control frame of a WebSocket
}

// A Joiner rebuilds a stream from its pieces.
type Joiner struct {
	Socket bool // the stream is a WebSocket, whose data may be masked

	mask mask
}

// Append appends the bytes of the stream that p represents.
func (j *Joiner) Append(b []byte, p Piece) []byte {
	if j.Socket && len(p.Lead) > 0 && !p.Derived {
		j.mask = lastMask(p.Lead)
	}
	b = append(b, p.Lead...)
	if p.Derived {
		return b
	}
	b = append(b, p.Bytes...)
	if j.Socket {
		j.mask.apply(b[len(b)-len(p.Bytes):])
	}
	return b
}
