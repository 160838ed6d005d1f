package replay

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Of a message that is longer than wire.MaxChecked the beginning is looked at,
// and the end: many write the id behind the result.

// tailSize is how much of the end is looked at.
const tailSize = 256

// shortened returns what is kept of a message while it comes, once it is longer
// than wire.MaxChecked: its beginning, and its end so far.
func shortened(message []byte) []byte {
	if len(message) <= wire.MaxChecked+tailSize {
		return message
	}
	return append(message[:wire.MaxChecked], message[len(message)-tailSize:]...)
}

// envelope is wire.Scan, which also finds an id at the end of a message that is
// longer than wire.MaxChecked, whether it is whole or shortened.
func envelope(message []byte) wire.Envelope {
	e := wire.Scan(message)
	if e.Kind == wire.Unchecked && e.ID == nil {
		e.ID, _ = lastID(message)
	}
	return e
}

// lastID returns the id that is the last member of a message, and where it
// stands; nil if another one is.
func lastID(message []byte) (id []byte, at int) {
	from := max(len(message)-tailSize, 0)
	end := bytes.TrimRight(message[from:], " \t\r\n")
	i := bytes.LastIndex(end, []byte(`"id"`))
	if i < 0 || end[len(end)-1] != '}' {
		return nil, 0
	}
	value := bytes.TrimLeft(end[i+len(`"id"`):], " \t:")
	at = from + len(end) - len(value)
	value = bytes.TrimRight(value[:len(value)-1], " \t")
	switch v := gjson.ParseBytes(value); {
	case v.Raw != string(value) || !gjson.ValidBytes(value), v.Type != gjson.Number && v.Type != gjson.String:
		return nil, 0
	}
	return value, at
}

// A tail is a writer that keeps the end of what is written to it.
type tail struct {
	end []byte
	n   int // bytes before end
}

func (t *tail) Write(b []byte) (int, error) {
	t.end = append(t.end, b...)
	if left := len(t.end) - tailSize; left > 0 {
		t.n += left
		t.end = append(t.end[:0], t.end[left:]...)
	}
	return len(b), nil
}

// envelope is envelope of a recorded frame.
func (s Source) envelope(f *dialect.Frame) wire.Envelope {
	if int64(len(f.Raw)) == f.Size {
		return wire.Scan(f.Raw)
	}
	e := wire.ScanPrefix(f.Raw)
	if e.ID == nil {
		e.ID, _ = s.lastID(f.Seq)
	}
	return e
}

// lastID is lastID of a recorded frame.
func (s Source) lastID(seq uint64) (id []byte, at int) {
	var t tail
	if s.Tape.WriteFrame(&t, seq) != nil {
		return nil, 0
	}
	id, at = lastID(t.end)
	return id, t.n + at
}
