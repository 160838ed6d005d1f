package wire

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// A scanner reads JSON (RFC 8259) from b. Its methods return false if the text is not JSON,
// is nested too deeply, or ends too early.
type scanner struct {
	b       []byte
	i       int  // next byte
	cut     bool // b is only the beginning of the frame
	deep    bool // nested deeper than MaxDepth
	high    bool // a string holds a byte above 0x7f
	escaped bool // so was the last string
	depth   int
	near    [nearWords]uint64 // bit n: level n is an object
	far     []uint64          // likewise for deeper levels
	names   names
	env     Envelope
	shape   shape
}

// nearWords covers the depth of ordinary messages, to keep scanners small.
const nearWords = 4

// key reads a member's name with the colon and the blanks after it. It returns the name
// with its quotes.
func (s *scanner) key() ([]byte, bool) {
	start := s.i
	s.escaped = false
	if !s.string() {
		return nil, false
	}
	key := s.b[start:s.i]
	switch {
	case s.names.repeat:
	case s.escaped:
		s.names.repeat = true
	default:
		s.names.add(s.b[start:], len(key), s.depth)
	}
	s.blanks()
	if s.i == len(s.b) || s.b[s.i] != ':' {
		return nil, false
	}
	s.i++
	s.blanks()
	return key, true
}

// value reads one value with all its contents.
func (s *scanner) value() bool {
	base := s.depth
	for {
		if s.i == len(s.b) {
			return false
		}
		switch c := s.b[s.i]; c {
		case '{', '[':
			s.i++
			if s.depth == MaxDepth-1 { // the envelope is a level too
				s.deep = true
				return false
			}
			s.push(c == '{')
			s.blanks()
			if s.i < len(s.b) && s.b[s.i] == closing(c == '{') {
				break // empty
			}
			if c == '{' {
				if _, ok := s.key(); !ok {
					return false
				}
			}
			continue
		case '"':
			if !s.string() {
				return false
			}
		default:
			if !s.atom() {
				return false
			}
		}
		// A value has ended, or an empty array or object is about to.
		for {
			if s.depth == base {
				return true
			}
			s.blanks()
			if s.i == len(s.b) {
				return false
			}
			c, object := s.b[s.i], s.object()
			if c != ',' && c != closing(object) {
				return false
			}
			s.i++
			if c != ',' {
				s.names.leave(s.depth)
				s.depth--
				continue
			}
			s.blanks()
			if object {
				if _, ok := s.key(); !ok {
					return false
				}
			}
			break
		}
	}
}

func (s *scanner) push(object bool) {
	s.depth++
	s.names.enter(s.depth)
	word, bit := s.level(), uint64(1)<<(s.depth%64)
	if object {
		*word |= bit
	} else {
		*word &^= bit
	}
}

func (s *scanner) object() bool { return *s.level()>>(s.depth%64)&1 == 1 }

// level returns the word with the bit of the current depth.
func (s *scanner) level() *uint64 {
	if s.depth < 64*nearWords {
		return &s.near[s.depth/64]
	}
	n := s.depth/64 - nearWords
	if n >= len(s.far) {
		s.far = append(s.far, 0)
	}
	return &s.far[n]
}

func closing(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}

func (s *scanner) blanks() {
	for s.i < len(s.b) && s.b[s.i] <= ' ' {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// string reads a string with its quotes.
func (s *scanner) string() bool {
	b := s.b
	if s.i == len(b) || b[s.i] != '"' {
		return false
	}
	i := s.i + 1
	for {
		i += plain(b[i:])
		if i >= len(b) {
			s.i = len(b)
			return false
		}
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return true
		case c >= utf8.RuneSelf:
			s.high = true
			i++
		case c < ' ':
			s.i = i
			return false
		default: // a backslash
			n := escape(b[i:])
			if n == 0 {
				s.i = i
				if len(b)-i < len(`\u0000`) {
					s.i = len(b) // perhaps only cut off
				}
				return false
			}
			i += n
			s.escaped = true
		}
	}
}

// plain returns the number of leading bytes of b that need no closer look. It tests eight
// at a time.
func plain(b []byte) int {
	const (
		ones = 0x0101010101010101
		tops = 0x8080808080808080
	)
	n := 0
	for len(b)-n >= 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote, slash := w^('"'*ones), w^('\\'*ones)
		// The top bit of a byte is set if it is above 0x7f, below a blank, a quote or a
		// backslash. A borrow may also set it in a later byte, so only the first one
		// counts.
		hit := (w | (w - ' '*ones) | (quote - ones) | (slash - ones)) & tops
		if hit != 0 {
			return n + bits.TrailingZeros64(hit)/8
		}
		n += 8
	}
	for n < len(b) {
		if c := b[n]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
		n++
	}
	return n
}

// escape returns the length of the escape sequence at the beginning of b, or 0 if there is
// none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// atom reads a number, true, false or null. It consumes every byte that may belong to
// one, so it reads a truncated one to its end.
func (s *scanner) atom() (ok bool) {
	b := s.b[s.i:]
	n := 0
	switch b[0] {
	case 't':
		n, ok = literal(b, "true")
	case 'f':
		n, ok = literal(b, "false")
	case 'n':
		n, ok = literal(b, "null")
	default:
		n, ok = number(b)
	}
	s.i += n
	return ok
}

// literal returns how much of word b begins with, and whether that is all of it.
func literal(b []byte, word string) (n int, ok bool) {
	for n < len(b) && n < len(word) && b[n] == word[n] {
		n++
	}
	return n, n == len(word)
}

// number returns how many bytes of b may form a number, and whether they do.
func number(b []byte) (i int, ok bool) {
	at := func() byte {
		if i < len(b) {
			return b[i]
		}
		return 0
	}
	digits := func() bool {
		start := i
		for '0' <= at() && at() <= '9' {
			i++
		}
		return i > start
	}
	if at() == '-' {
		i++
	}
	if at() == '0' {
		i++
	} else if !digits() {
		return i, false
	}
	if at() == '.' {
		i++
		if !digits() {
			return i, false
		}
	}
	if at()|0x20 == 'e' {
		i++
		if at() == '+' || at() == '-' {
			i++
		}
		if !digits() {
			return i, false
		}
	}
	return i, true
}
