package wire

import "bytes"

// A BodyDecoder reads a whole body as one frame. White space around JSON is framing.
type BodyDecoder struct {
	JSON    bool   `json:"json,omitempty"` // the content type is JSON; otherwise the frame has the kind Body
	Open    bool   `json:"open,omitempty"` // earlier bytes of the frame were already emitted
	Pending []byte `json:"p,omitempty"`    // bytes not emitted yet

	// Limit is the number of bytes kept until the body ends; 0 is MaxChecked.
	Limit int `json:"-"`
}

// Feed is Decoder.Feed.
func (d *BodyDecoder) Feed(p []byte, emit func(Piece)) {
	for len(p) > 0 {
		most := limitOr(d.Limit) + 1
		n := min(len(p), most-len(d.Pending))
		if need := len(d.Pending) + n; need > cap(d.Pending) {
			d.Pending = append(make([]byte, 0, min(max(need, 2*cap(d.Pending)), most)), d.Pending...)
		}
		d.Pending = append(d.Pending, p[:n]...)
		if p = p[n:]; len(d.Pending) > limitOr(d.Limit) {
			d.spill(emit)
		}
	}
}

// Flush is Decoder.Flush.
func (d *BodyDecoder) Flush(emit func(Piece)) (rest []byte) {
	lead, data, rest := d.cut()
	if len(data) > 0 || d.Open {
		emit(Piece{Lead: lead, Bytes: data, Kind: d.kind(), Last: true})
	} else {
		rest = d.Pending
	}
	d.Pending, d.Open = nil, false
	return rest
}

func (d *BodyDecoder) spill(emit func(Piece)) {
	lead, data, rest := d.cut()
	switch {
	case len(data) > 0:
		emit(Piece{Lead: lead, Bytes: data, Kind: d.kind()})
		d.Open = true
	case d.Open: // white space that may be inside the frame
		emit(Piece{Bytes: d.Pending, Kind: d.kind()})
		rest = nil
	default:
		emit(framing(d.Pending))
		rest = nil
	}
	d.Pending = append(d.Pending[:0], rest...)
}

// cut divides Pending into leading white space, the bytes of the frame, and white space
// that may follow it.
func (d *BodyDecoder) cut() (lead, data, rest []byte) {
	data = d.Pending
	if !d.JSON {
		return nil, data, nil
	}
	if !d.Open {
		data = bytes.TrimLeft(data, jsonBlanks)
		lead = d.Pending[:len(d.Pending)-len(data)]
	}
	data = bytes.TrimRight(data, jsonBlanks)
	return lead, data, d.Pending[len(lead)+len(data):]
}

func (d *BodyDecoder) kind() Kind {
	if d.JSON {
		return Invalid
	}
	return Body
}

// jsonBlanks is JSON's white space (RFC 8259, section 2).
const jsonBlanks = " \t\r\n"
