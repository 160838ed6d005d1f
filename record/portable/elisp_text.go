package portable

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// symbol reads a symbol or a number.
func (e *elisp) symbol() (string, error) {
	var b strings.Builder
	for {
		c, err := e.byte()
		switch {
		case err != nil:
			return "", err
		case c == '\\':
			if c, err = e.byte(); err != nil {
				return "", err
			}
		case strings.IndexByte(" \t\r\n\f()[]\"';`,", c) >= 0:
			e.in.UnreadByte()
			if b.Len() == 0 {
				return "", fmt.Errorf("%q where a symbol should be", c)
			}
			return b.String(), nil
		}
		if b.WriteByte(c); b.Len() > maxID {
			return "", errors.New("a symbol that is too long")
		}
	}
}

// string reads a string, after its quotation mark.
func (e *elisp) string() error {
	if err := e.add('"'); err != nil {
		return err
	}
	for {
		r, _, err := e.in.ReadRune()
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if r == '"' {
			return e.add('"')
		}
		if r == '\\' {
			if r, err = e.escape(); err != nil {
				return err
			}
			if r < 0 {
				continue
			}
		}
		if err := e.char(r); err != nil {
			return err
		}
	}
}

// char adds a character of a string.
func (e *elisp) char(r rune) error {
	switch {
	case r == '"', r == '\\':
		return e.add('\\', byte(r))
	case r == '\n':
		return e.add('\\', 'n')
	case r == '\t':
		return e.add('\\', 't')
	case r < ' ':
		return e.add(fmt.Appendf(nil, `\u%04x`, r)...)
	}
	var b [utf8.UTFMax]byte
	return e.add(b[:utf8.EncodeRune(b[:], r)]...)
}

// escape reads an escape sequence after its backslash. The result is negative if it stands
// for nothing.
func (e *elisp) escape() (rune, error) {
	c, _, err := e.in.ReadRune()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	switch {
	case err != nil:
		return 0, err
	case c == '\n', c == ' ':
		return -1, nil
	case c == 'x':
		return e.digits(16, 6)
	case c == 'u':
		return e.digits(16, 4)
	case c == 'U':
		return e.digits(16, 8)
	case '0' <= c && c <= '7':
		e.in.UnreadRune()
		return e.digits(8, 3)
	}
	if i := strings.IndexRune("abdefnrstv", c); i >= 0 {
		return rune("\a\b\x7f\x1b\f\n\r \t\v"[i]), nil
	}
	return c, nil
}

func (e *elisp) digits(base, most int) (rune, error) {
	var text []byte
	for len(text) < most {
		c, err := e.byte()
		if err != nil {
			return 0, err
		}
		if _, bad := strconv.ParseUint(string(c), base, 8); bad != nil {
			e.in.UnreadByte()
			break
		}
		text = append(text, c)
	}
	n, err := strconv.ParseUint(string(text), base, 32)
	if err != nil || n > utf8.MaxRune {
		return utf8.RuneError, nil
	}
	return rune(n), nil
}
