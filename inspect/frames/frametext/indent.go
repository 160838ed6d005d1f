package frametext

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/acptap/acptap/record/termtext"
)

// An Indenter pretty-prints JSON as a stream, without holding it in memory. It changes
// only the white space between values, and writes characters that could control a
// terminal as \u escapes. Invalid JSON, such as a frame that was cut off, is laid out as
// far as possible. An Indenter formats one value; Close ends the last line.
type Indenter struct {
	W    io.Writer
	Text bool // the input is not JSON: escape only control characters

	out      bytes.Buffer
	part     []byte // of a character whose remaining bytes have not arrived yet
	depth    int
	inString bool
	escaped  bool // the previous byte was a backslash
	opened   bool // the previous token was a bracket: an empty array or object stays on one line
}

// Indented returns JSON laid out by an Indenter.
func Indented(raw []byte) string {
	var b strings.Builder
	in := &Indenter{W: &b}
	in.Write(raw) // writing to a Builder never fails
	in.Close()
	return b.String()
}

// maxIndent limits how deeply lines are indented. A frame may be nested much deeper.
const maxIndent = 64

// Write formats the next bytes.
func (in *Indenter) Write(p []byte) (int, error) {
	text := append(in.part, p...)
	for len(text) > 0 && utf8.FullRune(text) {
		r, n := utf8.DecodeRune(text)
		in.take(r)
		text = text[n:]
	}
	in.part = bytes.Clone(text)
	if err := in.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes the rest and a line end. It does not close W.
func (in *Indenter) Close() error {
	for range in.part {
		in.put(utf8.RuneError)
	}
	in.part = nil
	in.out.WriteByte('\n')
	return in.flush()
}

func (in *Indenter) flush() error {
	_, err := in.W.Write(in.out.Bytes())
	in.out.Reset()
	return err
}

func (in *Indenter) take(r rune) {
	if in.Text {
		in.put(r)
		return
	}
	if in.inString {
		in.put(r)
		switch {
		case in.escaped:
			in.escaped = false
		case r == '\\':
			in.escaped = true
		case r == '"':
			in.inString = false
		}
		return
	}
	switch r {
	case ' ', '\t', '\r', '\n':
		return
	case '}', ']':
		in.depth = max(in.depth-1, 0)
		if !in.opened {
			in.newLine()
		}
		in.opened = false
		in.out.WriteRune(r)
		return
	}
	if in.opened {
		in.newLine()
		in.opened = false
	}
	switch r {
	case '{', '[':
		in.out.WriteRune(r)
		in.depth++
		in.opened = true
	case ',':
		in.out.WriteRune(r)
		in.newLine()
	case ':':
		in.out.WriteString(": ")
	default:
		in.put(r)
		in.inString = r == '"'
	}
}

// put writes a character of a value.
func (in *Indenter) put(r rune) {
	if termtext.Controls(r) && !(r == '\t' && in.Text) {
		fmt.Fprintf(&in.out, `\u%04x`, r)
		return
	}
	in.out.WriteRune(r)
}

func (in *Indenter) newLine() {
	in.out.WriteByte('\n')
	for range min(in.depth, maxIndent) {
		in.out.WriteString("  ")
	}
}
