package replay

import (
	"io"
)

// A splice is a writer that makes edits on the way.
type splice struct {
	w     io.Writer
	edits []edit // in order
	at    int
}

func newSplice(w io.Writer, edits []edit) *splice { return &splice{w: w, edits: edits} }

func (s *splice) Write(b []byte) (int, error) {
	n := len(b)
	for len(s.edits) > 0 && len(b) > 0 {
		e := s.edits[0]
		if s.at+len(b) <= e.from {
			break
		}
		if s.at < e.from {
			s.w.Write(b[:e.from-s.at])
			b, s.at = b[e.from-s.at:], e.from
		}
		skip := min(len(b), e.to-s.at)
		b, s.at = b[skip:], s.at+skip
		if s.at == e.to {
			s.w.Write(e.with)
			s.edits = s.edits[1:]
		}
	}
	s.w.Write(b)
	s.at += len(b)
	return n, nil
}
