// Package rpc reads and compares the JSON-RPC messages of a replay: it exchanges lines with
// the other side, yields the messages of a line, and matches recorded messages
// whose secrets were removed.
package rpc

import (
	"io"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// shortened returns the parts of a message kept while it is read: of a long one, its
// beginning and its end so far. Many programs write the id after the result.
func shortened(message []byte) []byte {
	if len(message) <= wire.MaxChecked+wire.TailSize {
		return message
	}
	return append(message[:wire.MaxChecked], message[len(message)-wire.TailSize:]...)
}

// ReadLines reads in until it ends and calls put with each line. It shortens long lines
// unless whole is set. It calls heard after each read.
func ReadLines(in io.Reader, whole bool, heard func(), put func(line []byte)) {
	var split wire.Splitter
	var line []byte
	emit := func(piece []byte, _ wire.LineEnd, last bool) {
		line = append(line, piece...)
		if !whole {
			line = shortened(line)
		}
		if last {
			put(line)
			line = nil
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		heard()
		split.Feed(buf[:n], emit)
		if err != nil { // a stream that cannot be read counts as ended
			split.Flush(emit)
			return
		}
	}
}

// Scan does what wire.Scan does, and also finds an id at the end of a message longer than
// wire.MaxChecked, whether whole or shortened.
func Scan(message []byte) wire.Envelope {
	e := wire.Scan(message)
	if e.Kind == wire.Oversized && e.ID == nil {
		e.ID, _ = wire.LastID(message[max(0, len(message)-wire.TailSize):])
	}
	return e
}

// Envelope returns the envelope of a recorded frame. If the frame is too long to be read
// at once and its beginning has no id, Envelope looks for the id at the end.
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

// A tail keeps the last bytes written to it.
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

// Chosen says which part of a tape to play: all of it, or one session with the messages
// that belong to no session.
type Chosen struct {
	Session string            // empty: all
	Made    map[uint64]string // sessions by the number of the request that made or opened them
}

// Has reports whether to play the message with annotation a in frame seq. If one session
// is chosen, a request for a session that was never made is skipped.
func (c *Chosen) Has(seq uint64, a *dialect.Annotation) bool {
	switch made := c.Made[seq]; {
	case c.Session == "", a.Session == c.Session:
		return true
	case a.Session != "":
		return false
	case made != "":
		return made == c.Session
	}
	m, _ := dialect.Lookup(dialect.AnyProtocol, a.Method)
	return !m.Role.Is(dialect.MakesSession)
}

// EachIn calls do for the message in a line, or for each entry if the line is a batch. It
// returns the kind of the line.
func EachIn(line []byte, do func(message []byte, e wire.Envelope)) wire.Kind {
	e := Scan(line)
	if e.Kind != wire.Batch {
		do(line, e)
		return e.Kind
	}
	wire.Entries(line, func(_ int, entry []byte) bool {
		do(entry, wire.Scan(entry))
		return true
	})
	return e.Kind
}
