package main

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A cleaner is a terminal that is written to by somebody else than we: what
// comes is made fit for it, line by line. JSON stays the same JSON.
type cleaner struct {
	terminal io.Writer
	line     []byte // the last one, which has no end yet
}

// cleaned returns w; a cleaner, if it is a terminal. flush writes a last line that
// has no end.
func cleaned(w io.Writer) (out io.Writer, flush func()) {
	if !isTerminal(w) {
		return w, func() {}
	}
	c := &cleaner{terminal: w}
	return c, c.flush
}

func (c *cleaner) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		c.line = append(c.line, line...)
		if line[len(line)-1] != '\n' && len(c.line) < wire.MaxChecked {
			continue
		}
		if err := c.write(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (c *cleaner) flush() { c.write() }

func (c *cleaner) write() error {
	text, ended := bytes.CutSuffix(c.line, []byte("\n"))
	if json.Valid(text) {
		text = termtext.JSON(text)
	} else {
		text = []byte(termtext.Line(string(bytes.TrimSuffix(text, []byte("\r")))))
	}
	if ended {
		text = append(text[:len(text):len(text)], '\n')
	}
	c.line = c.line[:0]
	_, err := c.terminal.Write(text)
	return err
}
