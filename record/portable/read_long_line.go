package portable

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// maxLine is the length of the longest line read into memory. A longer one is streamed,
// if its last member has the bytes, as an Exporter writes it.
const maxLine = 8 << 20

var errLongLine = fmt.Errorf(`of a line of more than %d MiB the last member must be "frame", "text" or "base64"`, maxLine>>20)

// bodyName matches where the bytes of a line begin.
var bodyName = lazyregexp.New(`"(frame|text|base64)"\s*:\s*`)

// splitLong reads the beginning of a line that is too long; in has the rest. It returns
// the line with empty bytes, and the bytes.
func splitLong(head []byte, in *bufio.Reader) (line []byte, body io.Reader, err error) {
	for _, at := range bodyName().FindAllSubmatchIndex(head, -1) {
		before := bytes.TrimRight(head[:at[0]], " \t,")
		if !json.Valid(append(bytes.Clone(before), '}')) {
			continue // it is in a string, or nested
		}
		line = bytes.Clone(before)
		if len(bytes.TrimSpace(before)) > 1 {
			line = append(line, ',')
		}
		v := &valueReader{head: head[at[1]:], in: in}
		switch string(head[at[2]:at[3]]) {
		case "frame":
			body = v
		case "text":
			body = &textReader{v: v}
		default:
			body = base64.NewDecoder(base64.StdEncoding, &textReader{v: v})
		}
		return append(line, `"text":""}`...), body, nil
	}
	return nil, nil, errLongLine
}

// A lineReader reads the bytes of one line. Its errors identify that line.
type lineReader struct {
	io.Reader
	name string
	n    int
}

func (r lineReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s:%d: %w", r.name, r.n, err)
	}
	return n, err
}

// A valueReader reads the JSON value of a line's last member, and checks that the line ends
// after it. It checks nothing else: frames of that length are oversized.
type valueReader struct {
	head   []byte // read first
	in     *bufio.Reader
	depth  int
	quoted bool // in a string
	escape bool // after a backslash
	begun  bool
	ended  bool
}

func (v *valueReader) byte() (byte, error) {
	if len(v.head) > 0 {
		c := v.head[0]
		v.head = v.head[1:]
		return c, nil
	}
	c, err := v.in.ReadByte()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return c, err
}

// next returns the next byte of the value, or io.EOF after it.
func (v *valueReader) next() (byte, error) {
	if v.ended {
		return 0, v.end()
	}
	c, err := v.byte()
	switch {
	case err != nil:
		return 0, err
	case c == '\n':
		return 0, errors.New("no JSON: the line ends within a value")
	case v.escape:
		v.escape = false
	case v.quoted && c == '\\':
		v.escape = true
	case c == '"':
		v.quoted = !v.quoted
	case v.quoted:
	case c == '{', c == '[':
		v.depth++
	case c == '}', c == ']':
		v.depth--
	}
	if !v.begun && c != '"' && c != '{' && c != '[' {
		return 0, errors.New("no JSON: neither an object nor an array nor a string")
	}
	v.begun, v.ended = true, v.depth == 0 && !v.quoted
	return c, nil
}

// end reads the rest of the line. It returns io.EOF if that is valid.
func (v *valueReader) end() error {
	for closed := false; ; {
		c, err := v.byte()
		switch {
		case closed && (c == '\n' || err == io.ErrUnexpectedEOF):
			return io.EOF
		case err != nil:
			return err
		case c == '}' && !closed:
			closed = true
		case c != ' ' && c != '\t' && c != '\r':
			return errLongLine
		}
	}
}

func (v *valueReader) Read(p []byte) (int, error) {
	for n := range p {
		c, err := v.next()
		if err != nil {
			return n, err
		}
		p[n] = c
	}
	return len(p), nil
}

// A textReader reads the text of a JSON string.
type textReader struct {
	v    *valueReader
	high rune   // pending first half of a surrogate pair
	left []byte // decoded bytes not yet returned
	err  error
}

func (t *textReader) Read(p []byte) (int, error) {
	for len(t.left) < len(p) && t.err == nil {
		t.err = t.step()
	}
	n := copy(p, t.left)
	t.left = t.left[:copy(t.left, t.left[n:])]
	if n == 0 {
		return 0, t.err
	}
	return n, nil
}

// step reads the next byte or escape sequence.
func (t *textReader) step() error {
	first := !t.v.begun
	c, err := t.v.next()
	switch {
	case err != nil:
		return err
	case first && c != '"':
		return errors.New(`"text" and "base64" are strings`)
	case first:
		return nil
	case t.v.ended:
		t.flush()
		return nil
	case c < ' ':
		return errors.New("no JSON: a control character in a string")
	case c != '\\':
		t.flush()
		t.left = append(t.left, c)
		return nil
	}
	if c, err = t.v.next(); err != nil {
		return err
	}
	if i := bytes.IndexByte([]byte(`"\/bfnrt`), c); i >= 0 {
		t.flush()
		t.left = append(t.left, "\"\\/\b\f\n\r\t"[i])
		return nil
	}
	if c != 'u' {
		return errors.New("no JSON: an unknown escape sequence")
	}
	return t.unit()
}

// unit reads the four digits after \u, a unit of UTF-16.
func (t *textReader) unit() error {
	var r rune
	for range 4 {
		c, err := t.v.next()
		if err != nil {
			return err
		}
		digit := bytes.IndexByte([]byte("0123456789abcdefABCDEF"), c)
		if digit < 0 {
			return errors.New("no JSON: an unknown escape sequence")
		}
		if digit > 0xf {
			digit -= 6
		}
		r = r<<4 | rune(digit)
	}
	if pair := utf16.DecodeRune(t.high, r); pair != utf8.RuneError {
		t.high, t.left = 0, utf8.AppendRune(t.left, pair)
		return nil
	}
	t.flush()
	if t.high = r; !utf16.IsSurrogate(r) || r >= 0xdc00 {
		t.high, t.left = 0, utf8.AppendRune(t.left, r)
	}
	return nil
}

// flush replaces a pending first half that has no second half.
func (t *textReader) flush() {
	if t.high != 0 {
		t.high, t.left = 0, utf8.AppendRune(t.left, utf8.RuneError)
	}
}
