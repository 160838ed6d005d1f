package wire

import "bytes"

// A Splitter cuts the bytes of one direction into lines. The zero value is
// ready to use and cuts at MaxChecked.
type Splitter struct {
	// Pending holds the bytes of the unfinished line. Together with Open it is the whole
	// state: a Splitter made with both continues where the other stopped.
	Pending []byte

	// Open says that earlier bytes of the pending line were already emitted.
	Open bool

	// Limit is the number of bytes of a line kept until it ends; 0 is MaxChecked.
	Limit int
}

// Feed splits p into lines and calls emit for each, without its line end. It emits a line
// longer than Limit in several pieces; last is set for a line's final, usually only, piece.
// A piece is valid only during the call to emit; Feed does not retain p. How the input is
// split across calls to Feed does not affect the pieces.
func (s *Splitter) Feed(p []byte, emit func(piece []byte, end LineEnd, last bool)) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.keep(p, emit)
			return
		}
		line := p[:i]
		if len(s.Pending) > 0 || len(line) > s.limit() {
			s.keep(line, emit)
			line = s.Pending
		}
		end := LF
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line, end = line[:n-1], CRLF
		}
		emit(line, end, true)
		s.Pending, s.Open = s.Pending[:0], false
		p = p[i+1:]
	}
}

// Flush emits the line that the end of the stream left unfinished.
func (s *Splitter) Flush(emit func(piece []byte, end LineEnd, last bool)) {
	if len(s.Pending) > 0 || s.Open {
		emit(s.Pending, None, true)
	}
	s.Pending, s.Open = s.Pending[:0], false
}

func (s *Splitter) limit() int {
	if s.Limit == 0 {
		return MaxChecked
	}
	return s.Limit
}

// keep adds p to the pending line. If that exceeds the limit, keep emits all but its last
// byte, which may be the first half of a CRLF.
func (s *Splitter) keep(p []byte, emit func(piece []byte, end LineEnd, last bool)) {
	limit := s.limit()
	for len(s.Pending)+len(p) > limit {
		n := limit - len(s.Pending)
		s.Pending = append(s.Pending, p[:n]...)
		p = p[n:]
		emit(s.Pending[:limit-1], None, false)
		s.Pending, s.Open = append(s.Pending[:0], s.Pending[limit-1]), true
	}
	s.Pending = append(s.Pending, p...)
}
