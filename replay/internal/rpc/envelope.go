package rpc

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// Envelope returns the envelope of a recorded frame. If the frame is too long to be read at
// once and its beginning has no id, Envelope looks for the id at the end.
func Envelope(t *record.Tape, f *dialect.Frame) wire.Envelope {
	if int64(len(f.Raw)) == f.Size {
		return wire.Scan(f.Raw)
	}
	e := wire.ScanPrefix(f.Raw)
	if e.ID == nil {
		e.ID, _ = LastID(t, f.Seq)
	}
	return e
}

// LastID returns the id at the end of a recorded frame, and its offset.
func LastID(t *record.Tape, seq uint64) (id []byte, at int) {
	var end tail
	if t.WriteFrame(&end, seq) != nil {
		return nil, 0
	}
	id, at = wire.LastID(end.end)
	return id, end.n + at
}

// A tail keeps the last bytes that are written to it.
type tail struct {
	end []byte
	n   int // bytes before end
}

func (t *tail) Write(b []byte) (int, error) {
	t.end = append(t.end, b...)
	if left := len(t.end) - wire.TailSize; left > 0 {
		t.n += left
		t.end = append(t.end[:0], t.end[left:]...)
	}
	return len(b), nil
}
