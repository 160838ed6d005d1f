package portable

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// An elisp reads the elements of a list printed by prin1 of Emacs, and returns them as JSON:
// alists become objects, vectors arrays, t true, :false false, and symbols strings. acp.el
// reads null, false and {} as nil, and writes nil as {}, so nil becomes {} in what it sent.
//
// With print-circle, which acp.el sets, an object that occurs twice is printed once with a
// label (#1=…) and then as a reference to it (#1#), even in another element.
type elisp struct {
	in     *bufio.Reader
	out    []byte // the element being read, as JSON
	depth  int
	sent   bool // acp.el sent the element
	labels map[int][]byte
	kept   int // bytes in labels
}

// maxDepth limits how deep lists are nested.
const maxDepth = 1000

var errUnreadable = errors.New("an object that Emacs Lisp cannot read back")

var errElispLong = fmt.Errorf("more than %d MiB in one piece", maxLine>>20)

// open reads the parenthesis before the first element.
func (e *elisp) open() { e.next() }

// element reads the next element, which is valid until the next call. more is false after the
// last one.
func (e *elisp) element() (element []byte, more bool, err error) {
	e.out, e.sent = e.out[:0], false
	c, err := e.next()
	if err != nil || c == ')' {
		return nil, false, err
	}
	if err := e.value(c); err != nil {
		return nil, false, err
	}
	return e.out, true, nil
}

// next returns the first byte that is not blank.
func (e *elisp) next() (byte, error) {
	for {
		c, err := e.byte()
		if err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
			return c, err
		}
	}
}

func (e *elisp) byte() (byte, error) {
	c, err := e.in.ReadByte()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return c, err
}

func (e *elisp) add(text ...byte) error {
	if len(e.out)+len(text) > maxLine {
		return errElispLong
	}
	e.out = append(e.out, text...)
	return nil
}

// value reads a value that begins with c.
func (e *elisp) value(c byte) error {
	switch c {
	case '(':
		return e.object()
	case '[':
		return e.array()
	case '"':
		return e.string()
	case '#':
		if c, err := e.byte(); err != nil {
			return err
		} else if c == '(' {
			return e.propertized()
		} else if c == 's' {
			return e.table()
		}
		e.in.UnreadByte()
		return e.shared(e.value)
	case ')', ']', '.':
		return fmt.Errorf("%q where a value should be", c)
	}
	e.in.UnreadByte()
	symbol, err := e.symbol()
	if err != nil {
		return err
	}
	return e.atom(symbol)
}

// atom adds a symbol or a number that stands for a value.
func (e *elisp) atom(symbol string) error {
	switch symbol {
	case "nil":
		if e.sent {
			return e.add('{', '}')
		}
		return e.add([]byte("null")...)
	case ":null":
		return e.add([]byte("null")...)
	case "t":
		return e.add([]byte("true")...)
	case ":false", ":json-false":
		return e.add([]byte("false")...)
	}
	if c := symbol[0]; (c == '-' || '0' <= c && c <= '9') && json.Valid([]byte(symbol)) {
		return e.add([]byte(symbol)...)
	}
	return e.add(termtext.AppendQuoted(nil, []byte(symbol))...)
}

func (e *elisp) nested(read func() error) error {
	if e.depth++; e.depth > maxDepth {
		return errors.New("lists are nested too deep")
	}
	defer func() { e.depth-- }()
	return read()
}

func (e *elisp) array() error {
	return e.nested(func() error {
		if err := e.add('['); err != nil {
			return err
		}
		if err := e.each(']', e.value); err != nil {
			return err
		}
		return e.add(']')
	})
}

// each calls read with the first byte of each element up to end, and separates the output
// with commas.
func (e *elisp) each(end byte, read func(c byte) error) error {
	for first := true; ; first = false {
		c, err := e.next()
		if err != nil || c == end {
			return err
		}
		if !first {
			if err := e.add(','); err != nil {
				return err
			}
		}
		if err := read(c); err != nil {
			return err
		}
	}
}

// object reads an alist or a property list, after its parenthesis.
func (e *elisp) object() error {
	start := len(e.out)
	if err := e.add('{'); err != nil {
		return err
	}
	c, err := e.next()
	if err != nil {
		return err
	}
	e.in.UnreadByte()
	if c == ':' {
		err = e.nested(func() error { return e.each(')', e.property) })
	} else {
		err = e.members()
	}
	if err != nil {
		return err
	}
	if len(e.out) == start+1 {
		e.out = e.out[:start]
		return e.atom("nil")
	}
	return e.add('}')
}

// members reads the rest of an alist, with its closing parenthesis.
func (e *elisp) members() error {
	return e.nested(func() error {
		for {
			c, err := e.next()
			if err != nil {
				return err
			}
			switch c {
			case ')':
				return nil
			case '.':
				return e.tail()
			}
			if last := e.out[len(e.out)-1]; last != '{' {
				if err := e.add(','); err != nil {
					return err
				}
			}
			if err := e.pair(c); err != nil {
				return err
			}
		}
	})
}

// property reads a keyword with its value in a property list, such as (:name "x" :value 1).
func (e *elisp) property(byte) error {
	e.in.UnreadByte()
	key, err := e.symbol()
	if err != nil {
		return err
	}
	if err := e.key(strings.TrimPrefix(key, ":")); err != nil {
		return err
	}
	c, err := e.next()
	if err != nil {
		return err
	}
	return e.value(c)
}

func (e *elisp) key(name string) error {
	return e.add(append(termtext.AppendQuoted(nil, []byte(name)), ':')...)
}

// tail reads what follows the dot in a list: the rest of the list, which is printed like this
// if it has a label.
func (e *elisp) tail() error {
	c, err := e.next()
	if err != nil {
		return err
	}
	start := len(e.out)
	if err := e.value(c); err != nil {
		return err
	}
	rest := e.out[start:]
	switch {
	case rest[0] == '{' && len(rest) > 2 && e.out[start-1] == '{':
		copy(rest, rest[1:])
		e.out = e.out[:len(e.out)-2]
	case rest[0] == '{' && len(rest) > 2:
		rest[0], e.out = ',', e.out[:len(e.out)-1]
	case string(rest) == "null", string(rest) == "{}":
		e.out = e.out[:start]
	default:
		return errors.New("a list that is no object")
	}
	return e.close()
}

// pair reads a key with its value. A list after the key is printed as if its elements
// were in the pair: (key (a . 1)) is (key . ((a . 1))).
func (e *elisp) pair(c byte) error {
	if c == '#' {
		return e.shared(e.pair)
	}
	if c != '(' {
		return fmt.Errorf("%q where a pair should be", c)
	}
	c, err := e.next()
	if err != nil {
		return err
	}
	var key string
	if c == '"' {
		start := len(e.out)
		if err := e.string(); err != nil {
			return err
		}
		if err := json.Unmarshal(e.out[start:], &key); err != nil {
			return err
		}
		e.out = e.out[:start]
	} else {
		e.in.UnreadByte()
		if key, err = e.symbol(); err != nil {
			return err
		}
	}
	if err := e.key(key); err != nil {
		return err
	}
	start := len(e.out)
	switch c, err = e.next(); {
	case err != nil:
		return err
	case c == '.':
		if c, err = e.next(); err != nil {
			return err
		}
		if err := e.value(c); err != nil {
			return err
		}
		if err := e.close(); err != nil {
			return err
		}
	default:
		e.in.UnreadByte()
		if err := e.object(); err != nil {
			return err
		}
	}
	if key == ":direction" {
		e.sent = string(e.out[start:]) == `"outgoing"`
	}
	return nil
}

// close reads the closing parenthesis of a list that ends here.
func (e *elisp) close() error {
	c, err := e.next()
	if err == nil && c != ')' {
		err = fmt.Errorf("%q where a list should end", c)
	}
	return err
}

// shared reads a label or a reference, after the #. read reads the labelled value.
func (e *elisp) shared(read func(c byte) error) error {
	c, err := e.byte()
	var digits []byte
	for ; err == nil && '0' <= c && c <= '9' && len(digits) < 9; c, err = e.byte() {
		digits = append(digits, c)
	}
	if err != nil {
		return err
	}
	n, bad := strconv.Atoi(string(digits))
	switch {
	case bad != nil:
	case c == '#':
		text, ok := e.labels[n]
		if !ok {
			return fmt.Errorf("#%d# refers to nothing before it", n)
		}
		return e.add(text...)
	case c == '=':
		if c, err = e.next(); err != nil {
			return err
		}
		start := len(e.out)
		if err := read(c); err != nil {
			return err
		}
		return e.label(n, e.out[start:])
	}
	return errUnreadable
}

func (e *elisp) label(n int, text []byte) error {
	if e.kept += len(text) + 64; e.kept > maxLine {
		return errElispLong
	}
	if e.labels == nil {
		e.labels = map[int][]byte{}
	}
	e.labels[n] = append([]byte(nil), text...)
	return nil
}

// propertized reads #("text" 0 4 (face bold)).
func (e *elisp) propertized() error {
	c, err := e.next()
	if err != nil {
		return err
	}
	if c != '"' {
		return errUnreadable
	}
	if err := e.string(); err != nil {
		return err
	}
	end := len(e.out)
	for depth := 1; depth > 0; e.out = e.out[:end] {
		if c, err = e.byte(); err != nil {
			return err
		}
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '"':
			err = e.string()
		case '?', '\\':
			_, err = e.byte()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// table reads a hash table, #s(hash-table … data (key value …)): Lisp code may have sent one
// as an object.
func (e *elisp) table() error {
	if c, err := e.byte(); err != nil || c != '(' {
		return cmp.Or(err, errUnreadable)
	}
	return e.nested(func() error {
		if err := e.add('{'); err != nil {
			return err
		}
		for {
			c, err := e.next()
			if err != nil {
				return err
			}
			if c == ')' {
				return e.add('}')
			}
			e.in.UnreadByte()
			name, err := e.symbol()
			if err != nil {
				return err
			}
			if name != "data" {
				continue // hash-table, size 0, test equal
			}
			if c, err = e.next(); err != nil {
				return err
			}
			if c != '(' {
				return errors.New("a hash table without data")
			}
			if err := e.each(')', e.entry); err != nil {
				return err
			}
		}
	})
}

// entry reads a key of a hash table with its value.
func (e *elisp) entry(c byte) error {
	start := len(e.out)
	if err := e.value(c); err != nil {
		return err
	}
	if e.out[start] != '"' {
		return errors.New("a key that is no string")
	}
	if err := e.add(':'); err != nil {
		return err
	}
	c, err := e.next()
	if err != nil {
		return err
	}
	return e.value(c)
}
