package remap

import (
	"io"
)

// An EditWriter makes edits to a message that is written to it in pieces. It ignores
// errors of the underlying writer.
type EditWriter struct {
	w     io.Writer
	edits []Edit // not made yet, in order
	at    int    // offset in the message
}

func NewEditWriter(w io.Writer, edits []Edit) *EditWriter { return &EditWriter{w: w, edits: edits} }

func (s *EditWriter) Write(b []byte) (int, error) {
	n := len(b)
	for len(s.edits) > 0 && len(b) > 0 {
		e := s.edits[0]
		if s.at+len(b) <= e.From {
			break
		}
		if s.at < e.From {
			s.w.Write(b[:e.From-s.at])
			b, s.at = b[e.From-s.at:], e.From
		}
		skip := min(len(b), e.To-s.at)
		b, s.at = b[skip:], s.at+skip
		if s.at == e.To {
			s.w.Write(e.With)
			s.edits = s.edits[1:]
		}
	}
	s.w.Write(b)
	s.at += len(b)
	return n, nil
}
