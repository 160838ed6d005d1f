package record

import (
	"encoding/binary"
	"time"
)

// A writer appends numbers and text in the form that reader reads: varints, and
// text behind its length.
type writer struct{ b []byte }

func (w *writer) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

func (w *writer) text(s string) {
	w.uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

// A reader reads what a writer wrote. At the end of its bytes it gives zeros and
// remembers that it ran dry.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) byte() byte {
	if p := r.bytes(1); len(p) == 1 {
		return p[0]
	}
	return 0
}

func (r *reader) bool() bool   { return r.byte() == 1 }
func (r *reader) text() string { return string(r.bytes(r.uint())) }

// count reads how many of something follow. Each takes at least one byte, so a
// damaged count cannot ask for more memory than there are bytes.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return 0
	}
	return int(n)
}

func (r *reader) time() time.Time {
	n := r.uint()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(n))
}
