package wire

import (
	"bytes"
	"iter"
	"strconv"
)

// A Reader iterates over JSON that Scan has accepted, or over the beginning of such a
// text: over the members of one object, the elements of one array, or all tokens (Next).
// It neither allocates nor recurses, so deep nesting cannot overflow the stack. It does
// not check the text again: it stops where the text is cut off, and for any other text
// its results are arbitrary, but it always stops.
type Reader struct {
	Text []byte
	Pos  int // of the next byte
}

// Inside returns a Reader positioned after the opening bracket of an object, if open is
// {, or of an array, if open is [. It finds nothing in any other value.
func Inside(value []byte, open byte) Reader {
	if len(value) == 0 || value[0] != open {
		return Reader{}
	}
	return Reader{value, 1}
}

// Members yields the name, without quotes, and value of each member of an object,
// including duplicates that do not count.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		r := Reader{Text: object}
		r.Members(yield)
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

// Members skips the value at Pos and, if it is an object, yields its members as Member
// returns them. It reads the object once; Value followed by Members would read it twice.
func (r *Reader) Members(yield func(name, value []byte) bool) {
	if r.Pos == len(r.Text) || r.Text[r.Pos] != '{' {
		r.Value()
		return
	}
	r.Pos++
	for name, value, ok := r.Member(); ok; name, value, ok = r.Member() {
		if !yield(name, value) {
			return
		}
	}
	if r.Pos < len(r.Text) {
		r.Pos++
	}
}

// Member returns the next member of an object: its name without quotes, and its value. A
// truncated value is returned as far as it goes.
func (r *Reader) Member() (name, value []byte, ok bool) {
	if name, ok = r.Name(); ok {
		value = r.Value()
	}
	return name, value, len(value) > 0
}

// Name returns the name of the next member of an object, without quotes. Its value is then
// at Pos.
func (r *Reader) Name() (name []byte, ok bool) {
	r.Skip(',')
	if r.Pos >= len(r.Text) || r.Text[r.Pos] != '"' {
		return nil, false
	}
	name = r.Quoted()
	r.Skip(':')
	if len(name) < 2 {
		return nil, false
	}
	if bytes.IndexByte(name, '\\') < 0 {
		return name[1 : len(name)-1], true
	}
	name, _ = Unquote(name)
	return name, true
}

// at skips the value at Pos and returns the value at a path in it, or nil if there is none;
// see Get.
func (r *Reader) at(path []string) (found []byte) {
	if len(path) == 0 {
		return r.Value()
	}
	open := byte(0)
	if r.Pos < len(r.Text) {
		open = r.Text[r.Pos]
	}
	switch open {
	case '{':
		r.Pos++
		for name, ok := r.Name(); ok; name, ok = r.Name() {
			if string(name) == path[0] {
				found = r.at(path[1:])
			} else {
				r.Value()
			}
		}
	case '[':
		r.Pos++
		index, err := strconv.Atoi(path[0])
		for i := 0; ; i++ {
			if err == nil && i == index {
				r.Skip(',')
				found = r.at(path[1:])
			} else if _, ok := r.Element(); !ok {
				break
			}
		}
	default:
		r.Value()
		return nil
	}
	r.Pos = min(r.Pos+1, len(r.Text))
	return found
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

// Skip skips blanks and up to one separator.
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

// A Token is a token found by Next.
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

// NextString advances past the next string.
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

const shortString = 16

// stringEnd returns the index after the string that begins at b[i].
func stringEnd(b []byte, i int) int {
	// Most strings are names and short values. A loop finds their ends sooner than
	// IndexByte (BenchmarkMatch in inspect/frames/filter).
	i++
	for short := min(i+shortString, len(b)); i < short && b[i] != '\\'; i++ {
		if b[i] == '"' {
			return i + 1
		}
	}
	for first := i; ; i++ {
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
