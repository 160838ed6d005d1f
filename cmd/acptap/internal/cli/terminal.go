package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns the width of the terminal w, or 0 if w is not a terminal or its width
// is unknown.
func Columns(w io.Writer) int {
	if !IsTerminal(w) {
		return 0
	}
	width, _, _ := term.GetSize(int(w.(*os.File).Fd()))
	return width
}

// A Canvas is where lines are written, and how.
type Canvas struct {
	W     io.Writer
	Width int  // width to cut lines to; 0: do not cut
	Color bool // with the 16 colours of ANSI
}

// NewCanvas returns a canvas on w: as wide as the terminal, in colours if the user wants
// them.
func NewCanvas(w io.Writer) Canvas { return Canvas{w, Columns(w), TakesColor(w)} }

// TakesColor reports whether w is a terminal whose user wants colours (no-color.org).
func TakesColor(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// A sanitizer passes another program's output to a terminal, line by line, and escapes
// everything that could control the terminal. Escaped JSON is still the same JSON.
type sanitizer struct {
	terminal io.Writer
	line     []byte // the last line while it is incomplete
}

// Sanitized returns w itself or, if w is a terminal, a writer that escapes what could
// control it. flush writes a last line without an end.
func Sanitized(w io.Writer) (out io.Writer, flush func()) {
	if !IsTerminal(w) {
		return w, func() {}
	}
	s := &sanitizer{terminal: w}
	return s, s.flush
}

func (s *sanitizer) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		s.line = append(s.line, line...)
		if line[len(line)-1] != '\n' && len(s.line) < wire.MaxChecked {
			continue
		}
		if err := s.write(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (s *sanitizer) flush() { s.write() }

func (s *sanitizer) write() error {
	text, ended := bytes.CutSuffix(s.line, []byte("\n"))
	if json.Valid(text) {
		text = termtext.JSON(text)
	} else {
		text = []byte(termtext.Line(string(bytes.TrimSuffix(text, []byte("\r")))))
	}
	if ended {
		text = append(text[:len(text):len(text)], '\n')
	}
	s.line = s.line[:0]
	_, err := s.terminal.Write(text)
	return err
}
