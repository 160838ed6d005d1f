package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A sanitizer passes another program's output to a terminal, line by line, and escapes
// whatever could control the terminal. Escaped JSON is still the same JSON.
type sanitizer struct {
	terminal io.Writer
	line     []byte // the last line, as long as it is incomplete
}

// Sanitized returns w itself, or if w is a terminal, a writer to it that escapes what could
// control it. flush writes a last line that has no end.
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
