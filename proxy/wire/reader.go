package wire

import (
	"bytes"
	"iter"
)

// A Reader iterates over JSON that Scan has accepted, or over the beginning of such a text:
// over the members of one object, the elements of one array, or all tokens (Next). It
// neither allocates nor recurses, so deep nesting cannot overflow the stack. It does not
// check the text again: it stops where the text is cut off, and for any other text its
// results are arbitrary, but it always stops.
type Reader struct {
	Text []byte
	Pos  int // of the next byte
}

// Inside returns a Reader positioned after the opening bracket of an object, if open is {,
// or of an array, if open is [. In any other value it finds nothing.
func Inside(value []byte, open byte) Reader {
	if len(value) == 0 || value[0] != open {
		return Reader{}
	}
	return Reader{value, 1}
}

// Members yields the members of an object, including duplicates that do not count: the name
// of each without quotes, and its value.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		r := Inside(object, '{')
		for name, value, ok := r.Member(); ok && yield(name, value); name, value, ok = r.Member() {
		}
	}
}

// Elements yields the elements of an array with their indexes.
func Elements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(i int, element []byte) bool) {
		r := Inside(array, '[')
		i := 0
		for element, ok := r.Element(); ok && yield(i, element); element, ok = r.Element() {
			i++
		}
	}
}

// Member returns the next member of an object: its name without quotes, and its value. A
// value that was cut off is returned as far as it goes.
func (r *Reader) Member() (name, value []byte, ok bool) {
	r.Skip(',')
	if r.Pos >= len(r.Text) || r.Text[r.Pos] != '"' {
		return nil, nil, false
	}
	name = r.Quoted()
	r.Skip(':')
	value = r.Value()
	if len(name) < 2 || len(value) == 0 {
		return nil, nil, false
	}
	if bytes.IndexByte(name, '\\') < 0 {
		return name[1 : len(name)-1], value, true
	}
	name, _ = Unquote(name)
	return name, value, true
}

// Element returns the next element of an array.
func (r *Reader) Element() (value []byte, ok bool) {
	r.Skip(',')
	if r.Pos >= len(r.Text) || r.Text[r.Pos] == ']' {
		return nil, false
	}
	value = r.Value()
	return value, len(value) > 0
}

// Skip skips blanks and at most one separator.
func (r *Reader) Skip(separator byte) {
	for r.Pos < len(r.Text) {
		switch c := r.Text[r.Pos]; {
		case c == ' ', c == '\t', c == '\n', c == '\r':
		case c == separator:
			separator = ' '
		default:
			return
		}
		r.Pos++
	}
}

// Quoted skips the string at Pos and returns it with its quotes.
func (r *Reader) Quoted() []byte {
	start := r.Pos
	r.Pos = stringEnd(r.Text, start)
	return r.Text[start:r.Pos]
}

// Value skips the value at Pos and returns it.
func (r *Reader) Value() []byte {
	start, depth := r.Pos, 0
	for r.Pos < len(r.Text) {
		switch r.Text[r.Pos] {
		case '"':
			r.Pos = stringEnd(r.Text, r.Pos)
			if depth == 0 {
				return r.Text[start:r.Pos]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // after a number or a literal
				return r.Text[start:r.Pos]
			}
			if depth--; depth == 0 {
				r.Pos++
				return r.Text[start:r.Pos]
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return r.Text[start:r.Pos]
			}
		}
		r.Pos++
	}
	return r.Text[start:]
}

// A Token is a token that Next finds.
type Token byte

// The tokens. A bracket is its own token.
const (
	NoToken    Token = 0   // at the end of the text
	MemberName Token = ':' // with its quotes
	String     Token = '"' // that is no name, with its quotes
	Literal    Token = '0' // a number, true, false or null
)

// Next skips the next token and returns its type and where it begins; it ends at Pos. Next
// ignores commas and colons.
func (r *Reader) Next() (t Token, start int) {
	for r.Pos < len(r.Text) {
		start = r.Pos
		switch c := r.Text[start]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			r.Pos++
		case '{', '}', '[', ']':
			r.Pos++
			return Token(c), start
		case '"':
			r.Pos = stringEnd(r.Text, start)
			if r.namesMember() {
				return MemberName, start
			}
			return String, start
		default:
			for r.Pos++; r.Pos < len(r.Text) && !delimiter(r.Text[r.Pos]); r.Pos++ {
			}
			return Literal, start
		}
	}
	return NoToken, len(r.Text)
}

// NextString skips to the next string, and past it.
func (r *Reader) NextString() (t Token, start int) {
	n := bytes.IndexByte(r.Text[r.Pos:], '"')
	if n < 0 {
		r.Pos = len(r.Text)
		return NoToken, r.Pos
	}
	r.Pos += n
	return r.Next()
}

// namesMember reports whether a colon follows.
func (r *Reader) namesMember() bool {
	for _, c := range r.Text[r.Pos:] {
		switch c {
		case ' ', '\t', '\n', '\r':
		default:
			return c == ':'
		}
	}
	return false
}

func delimiter(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
}

// stringEnd returns the index after the string that begins at b[i].
func stringEnd(b []byte, i int) int {
	first := i + 1
	for i = first; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		slashes := 0
		for i-slashes > first && b[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}
