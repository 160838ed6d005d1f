package remap

import (
	"bytes"
	"io"

	"github.com/acptap/acptap/proxy/wire"
)

// A PathWriter does what PathMap.Rewrite does for a message written in pieces. A string
// of more than maxString bytes keeps its bytes: it is more likely a file than a path.
type PathWriter struct {
	w     io.Writer
	paths *PathMap

	at      rewriting
	escaped bool   // the last byte was a backslash
	text    []byte // the current string, and the blanks after it
	length  int    // of the string without the blanks, once it has ended
	key     []byte // the last key, with its quotes
}

func NewPathWriter(w io.Writer, paths *PathMap) *PathWriter { return &PathWriter{w: w, paths: paths} }

// maxString limits the bytes of a string that are held until its end.
const maxString = wire.MaxChecked

// A rewriting is the kind of place in a message at which a piece ends.
type rewriting uint8

const (
	betweenStrings rewriting = iota
	inString
	inLongString // too long to be kept
	behindString // the next character tells whether the string is a key
)

func (r *PathWriter) Write(b []byte) (int, error) {
	if !r.paths.moved {
		return r.w.Write(b)
	}
	n := len(b)
	for len(b) > 0 {
		b = b[r.step(b):]
	}
	return n, nil
}

// step processes the first bytes of b and returns their number.
func (r *PathWriter) step(b []byte) int {
	switch r.at {
	case inString:
		n, ended := r.rest(b)
		r.text = append(r.text, b[:n]...)
		switch {
		case len(r.text) > maxString:
			r.w.Write(r.text)
			r.at, r.text = inLongString, nil
			if ended {
				r.at = betweenStrings
			}
		case ended:
			r.at, r.length = behindString, len(r.text)
		}
		return n
	case inLongString:
		n, ended := r.rest(b)
		r.w.Write(b[:n])
		if ended {
			r.at = betweenStrings
		}
		return n
	case behindString:
		blanks := len(b) - len(bytes.TrimLeft(b, " \t\r\n"))
		r.text = append(r.text, b[:blanks]...)
		if blanks < len(b) {
			r.finish(b[blanks] == ':')
		}
		return blanks
	}
	n := bytes.IndexByte(b, '"')
	if n < 0 {
		r.w.Write(b)
		return len(b)
	}
	r.w.Write(b[:n])
	r.at, r.text = inString, append(r.text[:0], '"')
	return n + 1
}

// rest returns how many bytes of b belong to the current string, and whether it ends
// there.
func (r *PathWriter) rest(b []byte) (n int, ended bool) {
	for i, c := range b {
		switch {
		case r.escaped:
			r.escaped = false
		case c == '\\':
			r.escaped = true
		case c == '"':
			return i + 1, true
		}
	}
	return len(b), false
}

// finish writes the string that has ended, and the blanks after it.
func (r *PathWriter) finish(isKey bool) {
	literal, blanks := r.text[:r.length], r.text[r.length:]
	if isKey {
		r.key = append(r.key[:0], literal...)
	} else if r.paths.concerns(literal, r.key) {
		if mapped, ok := r.paths.literal(nil, literal, r.key); ok {
			literal = mapped
		}
	}
	r.w.Write(literal)
	r.w.Write(blanks)
	r.at = betweenStrings
}

// Flush writes what is held back. Call it at the end of a message.
func (r *PathWriter) Flush() {
	switch r.at {
	case inString:
		r.w.Write(r.text)
	case behindString:
		r.finish(false)
	}
}
