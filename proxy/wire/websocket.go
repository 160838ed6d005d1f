package wire

import "bytes"

// A SocketDecoder cuts one direction of a WebSocket (RFC 6455, section 5) into messages.
// A text message, unmasked, is a frame; a binary message, or one that an extension
// changed, is a frame of the kind Body. A close is a mark. Pings, pongs, headers and
// masks are framing.
//
// For a fragmented message the lead holds everything that crossed the wire, and the
// joined payload is derived. A message longer than Limit is emitted in parts.
type SocketDecoder struct {
	Pending []byte  `json:"p,omitempty"`      // bytes since the last piece
	Open    bool    `json:"open,omitempty"`   // parts of a message were already emitted
	Lost    bool    `json:"lost,omitempty"`   // bytes are missing, and no message has begun since
	Message message `json:"message,omitzero"` // the message at the start of Pending

	// Limit is the number of bytes kept until a message ends; 0 is MaxChecked.
	Limit int `json:"-"`

	at   int     // Pending is scanned up to here
	now  message // the unfinished message at that position
	data []byte  // buffer for an unmasked or joined payload
}

// A message is what is known about an unfinished message.
type message struct {
	Begun  bool  `json:"begun,omitempty"`
	Split  bool  `json:"split,omitempty"`  // it comes in fragments
	Opaque bool  `json:"opaque,omitempty"` // it is not text
	Final  bool  `json:"final,omitempty"`  // the current fragment is the last
	Left   int64 `json:"left,omitempty"`   // bytes of the current fragment's payload still to come
	Mask   mask  `json:"mask,omitzero"`    // mask for those bytes
}

// Feed is Decoder.Feed.
func (d *SocketDecoder) Feed(p []byte, emit func(Piece)) { feed(d, &d.Pending, d.Limit, p, emit) }

// Flush is Decoder.Flush.
func (d *SocketDecoder) Flush(emit func(Piece)) (rest []byte) {
	d.scan(emit)
	if d.now.Begun {
		d.give(emit, true)
	}
	rest = d.Pending
	*d = SocketDecoder{Limit: d.Limit}
	return rest
}

// scan reads the headers and payloads received so far.
func (d *SocketDecoder) scan(emit func(Piece)) {
	if d.at == 0 {
		d.now = d.Message
	}
	if d.Lost && !d.find(emit) {
		return
	}
	for {
		n := min(d.now.Left, int64(len(d.Pending)-d.at))
		d.at += int(n)
		if d.now.Left -= n; d.now.Left > 0 {
			return
		}
		if d.now.Begun && d.now.Final {
			d.give(emit, true)
		}
		h, ok := readFrameHead(d.Pending[d.at:])
		switch {
		case !ok:
			return
		case !h.control():
			if d.now.Begun && h.opcode != opContinuation { // the previous message never ends
				d.give(emit, true)
			}
			d.now.begin(h)
			d.at += h.size
		case len(d.Pending)-d.at < h.size+int(h.length):
			return
		default:
			d.control(h, emit)
		}
	}
}

// control handles a control frame, which may come between the fragments of a message.
func (d *SocketDecoder) control(h frameHead, emit func(Piece)) {
	if h.opcode == opClose && d.Open { // no message continues after a close
		d.give(emit, true)
	}
	end := d.at + h.size + int(h.length)
	switch {
	case h.opcode == opClose:
		payload := append(d.data[:0], d.Pending[d.at+h.size:end]...)
		h.mask.apply(payload)
		emit(markPiece(d.Pending[:end], Marked{Close: readClose(payload)}))
		d.drop(end, message{})
	case !d.now.Begun && end > maxFraming:
		emit(framing(d.Pending[:end]))
		d.drop(end, message{})
	default:
		d.at = end
	}
}

// give emits what was scanned: a message or part of one.
func (d *SocketDecoder) give(emit func(Piece), last bool) {
	m := d.Message
	p := Piece{Kind: Invalid, Derived: d.now.Split, Last: last}
	if d.now.Opaque {
		p.Kind = Body
	}
	if whole := d.Pending[:d.at]; d.now.Split {
		d.data = m.join(d.data[:0], whole)
		p.Lead, p.Bytes = whole, d.data
	} else {
		first := m.skipControl(whole)
		p.Lead, p.Bytes = whole[:first], whole[first:]
		if m.Mask.On {
			d.data = append(d.data[:0], p.Bytes...)
			m.Mask.apply(d.data)
			p.Bytes = d.data
		}
		m.Left = d.now.Left
	}
	emit(p)
	if d.Open = !last; last {
		m = message{}
	}
	d.drop(d.at, m)
}

// drop removes n emitted bytes from Pending. m is the message's state after them.
func (d *SocketDecoder) drop(n int, m message) {
	d.Pending, d.at = d.Pending[n:], 0
	d.Message, d.now = m, m
}

// spill emits what was scanned, though no message has ended.
func (d *SocketDecoder) spill(emit func(Piece)) {
	switch {
	case d.at == 0:
	case d.now.Begun:
		d.give(emit, false)
	default:
		emit(framing(d.Pending[:d.at]))
		d.drop(d.at, message{})
	}
}

// find looks for the next message after missing bytes: a text message that begins like
// JSON-RPC. It emits everything before it as framing.
func (d *SocketDecoder) find(emit func(Piece)) bool {
	const head = 0x80 | opText
	for {
		i := bytes.IndexByte(d.Pending[d.at:], head)
		if i < 0 {
			d.at = len(d.Pending)
			return false
		}
		d.at += i
		switch found, ok := beginsMessage(d.Pending[d.at:]); {
		case !ok:
			return false
		case !found:
			d.at++
		default:
			if d.at > 0 {
				emit(framing(d.Pending[:d.at]))
			}
			d.drop(d.at, message{})
			d.Lost = false
			return true
		}
	}
}

// begin reads the head of a fragment.
func (m *message) begin(h frameHead) {
	if !m.Begun {
		*m = message{Begun: true, Split: !h.final, Opaque: h.opcode > opText || h.reserved}
	}
	m.Final, m.Left, m.Mask = h.final || h.opcode >= opClose, h.length, h.mask
}

// skipControl skips control frames and reads the head of a message. It returns where the
// payload begins, or 0 if m has already begun.
func (m *message) skipControl(p []byte) (at int) {
	for !m.Begun {
		h, ok := readFrameHead(p[min(at, len(p)):])
		if !ok {
			break // not a WebSocket
		}
		at += h.size
		if h.control() {
			at += int(h.length)
		} else {
			m.begin(h)
		}
	}
	return at
}

// join appends the payloads of the fragments in p.
func (m *message) join(b, p []byte) []byte {
	for {
		n := int(min(m.Left, int64(len(p))))
		b = append(b, p[:n]...)
		m.Mask.apply(b[len(b)-n:])
		m.Left -= int64(n)
		if p = p[n:]; len(p) == 0 {
			return b
		}
		h, _ := readFrameHead(p)
		if p = p[h.size:]; h.control() {
			p = p[h.length:]
		} else {
			m.begin(h)
		}
	}
}
