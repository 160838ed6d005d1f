package portable

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// Read reads a file in the portable form or in that of another tool, and calls line with
// each of its lines. If the file says how its tape began, Read calls begin first. Errors
// contain the place in the file, called name. tell reports each member that has no
// meaning, what the log of another tool lacks, and how much of it could not be read.
func Read(r io.Reader, name string, tell func(string), begin func(Head), line func(Line) error) error {
	in := bufio.NewReaderSize(r, beginning)
	if begins, _ := in.Peek(len(byteOrderMark)); string(begins) == byteOrderMark {
		in.Discard(len(byteOrderMark))
	}
	head, _ := in.Peek(beginning)
	return formOf(head).read(&file{in, name, tell, begin, line})
}

// parseLines reads a file that consists of lines. unknown, which may be nil, reports the
// members that mean nothing; other tools may write anything.
func (f *file) parseLines(parse lineParser, unknown *unknownFields) error {
	return readLines(f.in, f.name, func(n int, text []byte, body io.Reader) error {
		p, ok, err := parse(text)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", f.name, n, err)
		}
		if body != nil && (!ok || p.Mark != nil || len(p.Raw) > 0) {
			return fmt.Errorf("%s:%d: %w", f.name, n, errLongLine)
		}
		if !ok {
			if unknown != nil && wire.ValueAt(text, "acptap").Exists() {
				unknown.seeHeader(n, text)
			}
			return nil
		}
		if unknown != nil {
			unknown.see(n, text)
		}
		p.Number, p.Body = n, body
		return f.line(p)
	})
}

// byteOrderMark begins UTF-8 files of some editors and shells on Windows.
const byteOrderMark = "\uFEFF"

// A lineParser reads the lines of one file, in order. ok is false for a line that is not on
// the tape.
type lineParser func(text []byte) (p Line, ok bool, err error)

func readPortable(f *file) error {
	return f.parseLines(portableLines(f.begin), newUnknownFields(f.name, f.tell))
}

func portableLines(begin func(Head)) lineParser {
	first := true
	var last time.Duration
	return func(text []byte) (Line, bool, error) {
		if first {
			first = false
			h, ok, err := parseHeader(text)
			if err != nil {
				return Line{}, false, err
			}
			if ok {
				begin(h.head())
				return Line{}, false, nil
			}
		}
		p, err := parseLine(text, last)
		last = p.At
		if errors.Is(err, errFinding) {
			return Line{}, false, nil
		}
		return p, true, err
	}
}

// readLines reads lines of any length, and calls f with each and its number, from 1. It
// skips blank lines. If a line is too long for memory, body has its bytes; otherwise it
// is nil. Both are valid until f returns; f must read all of body. Errors of body contain
// the name of the file and the line.
func readLines(in *bufio.Reader, name string, f func(n int, line []byte, body io.Reader) error) error {
	var line []byte
	for n := 1; ; n++ {
		var err error
		line = line[:0]
		for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull && len(line) <= maxLine; {
			var part []byte
			part, err = in.ReadSlice('\n')
			line = append(line, part...)
		}
		if err == bufio.ErrBufferFull {
			short, body, err := splitLong(line, in)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", name, n, err)
			}
			if err := f(n, short, lineReader{body, name, n}); err != nil {
				return err
			}
			continue
		}
		if t := bytes.TrimSpace(line); len(t) > 0 {
			cut := errors.Is(err, io.EOF) && t[0] == '{' && n > 1
			if err := f(n, t, nil); cut && errors.Is(err, errNoJSON) {
				return fmt.Errorf("%w: the file ends within this line; head -n %d gives those before it", err, n-1)
			} else if err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
