package remap

import (
	"io"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// An Edit replaces a part of a message.
type Edit struct {
	From, To int
	With     []byte
}

// A spot is a value in a message and its offset.
type spot struct {
	raw string
	at  int
}

// found returns the values at a path, as in dialect.IDLocation.
func found(message []byte, path string) []spot {
	var spots []spot
	for _, s := range wire.Find(message, path) {
		spots = append(spots, spot{string(message[s.Start:s.End]), s.Start})
	}
	return spots
}

// Apply returns the edited message, in a new slice if there are edits. If edits overlap,
// it makes only the first. It sorts edits.
func Apply(message []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return message
	}
	slices.SortFunc(edits, func(a, b Edit) int { return a.From - b.From })
	var out []byte
	done := 0
	for _, e := range edits {
		if e.From < done || e.To > len(message) {
			continue // two locations have the same value
		}
		out = append(append(out, message[done:e.From]...), e.With...)
		done = e.To
	}
	return append(out, message[done:]...)
}

// IDEdit returns the edit that sets the id of a message, or none if the message has that
// id.
func IDEdit(message, id []byte) []Edit {
	var edits []Edit
	for _, f := range found(message, "id") {
		if f.raw != string(id) {
			edits = append(edits, Edit{f.at, f.at + len(f.raw), id})
		}
	}
	return edits
}

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
