package record

import "encoding/binary"

// A varintReader reads varints and length-prefixed text. Past the end of its bytes it
// returns zeros and sets Bad.
type varintReader struct {
	B   []byte // what is left
	Bad bool   // it ran out of bytes
}

// Uint reads a number.
func (r *varintReader) Uint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.B, r.Bad = nil, true
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Int reads a number that may be negative.
func (r *varintReader) Int() int64 {
	v, n := binary.Varint(r.B)
	if n <= 0 {
		r.B, r.Bad = nil, true
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Bytes reads n bytes. They are a part of r.B.
func (r *varintReader) Bytes(n uint64) []byte {
	if n > uint64(len(r.B)) {
		r.B, r.Bad = nil, true
		return nil
	}
	p := r.B[:n]
	r.B = r.B[n:]
	return p
}

// Text reads length-prefixed text.
func (r *varintReader) Text() string { return string(r.Bytes(r.Uint())) }

// Count reads a number of items that follow. Each takes at least one byte, so a damaged
// count cannot ask for more memory than there are bytes.
func (r *varintReader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.B)) {
		r.B, r.Bad = nil, true
		return 0
	}
	return int(n)
}
