package portable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/acptap/acptap/record/journal"
)

// devtools reads the JSON export of acp-devtools, version 1: one object, which may be
// larger than memory, with the session before the messages.
type devtools struct {
	*file
	dec   *json.Decoder
	limit *limitReader
	start time.Time
}

// isDevtools checks the beginning of a file. The export may be indented.
func isDevtools(head []byte) bool {
	return begins(head, "{", `"version"`) || begins(head, "{", `"exportedAt"`)
}

func readDevtools(f *file) error {
	limit := &limitReader{r: f.in}
	d := devtools{file: f, dec: json.NewDecoder(limit), limit: limit}
	return d.read()
}

func (d *devtools) read() error {
	d.dec.Token() // the brace that isDevtools saw
	for d.dec.More() {
		key, err := d.dec.Token()
		if err != nil {
			return d.fail(err)
		}
		switch key {
		case "version":
			err = d.version()
		case "session":
			err = d.session()
		case "messages":
			if err := d.messages(); err != nil {
				return err
			}
		default:
			var skipped json.RawMessage
			err = d.dec.Decode(&skipped)
		}
		if err != nil {
			return d.fail(err)
		}
	}
	if _, err := d.dec.Token(); err != nil {
		return d.fail(err)
	}
	if _, err := d.dec.Token(); err != io.EOF {
		return d.fail(errors.New("unexpected text after the export"))
	}
	return nil
}

// A limitReader fails when a single message is too long to keep in memory.
type limitReader struct {
	r    io.Reader
	read int
}

func (l *limitReader) Read(p []byte) (int, error) {
	if l.read > maxLine {
		return 0, fmt.Errorf("more than %d MiB in one piece", maxLine>>20)
	}
	n, err := l.r.Read(p)
	l.read += n
	return n, err
}

func (d *devtools) fail(err error) error {
	if endsEarly(err) {
		err = errors.New("the file is cut off")
	}
	return fmt.Errorf("%s: export of acp-devtools: %w", d.name, err)
}

// endsEarly reports whether a json.Decoder met the end of its input within a value. Which
// of the three errors it returns depends on the place and on the release of Go.
func endsEarly(err error) bool {
	var syntax *json.SyntaxError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input"
}

func (d *devtools) version() error {
	var v float64
	if err := d.dec.Decode(&v); err != nil {
		return err
	}
	if v != 1 {
		return fmt.Errorf("version %v is not known, 1 is", v)
	}
	return nil
}

func (d *devtools) session() error {
	var s struct {
		Name         string
		AgentCommand string // the arguments, joined by blanks
		StartedAt    float64
	}
	if err := d.dec.Decode(&s); err != nil {
		return err
	}
	if !d.start.IsZero() {
		return errors.New("two sessions")
	}
	var err error
	if d.start, err = instant(s.StartedAt); err != nil {
		return err
	}
	d.begin(Head{Start: journal.Start{Time: d.start, Command: strings.Fields(s.AgentCommand), Name: s.Name, Proto: "acp"}})
	return nil
}

// messages does not wrap the errors of line, which have no place in the file.
func (d *devtools) messages() error {
	if d.start.IsZero() {
		return d.fail(errors.New(`"session" does not stand before "messages"`))
	}
	if t, err := d.dec.Token(); err != nil || t != json.Delim('[') {
		return d.fail(errors.New(`"messages" is no array`))
	}
	for i := 0; d.dec.More(); i++ {
		d.limit.read = 0
		p, err := d.message()
		if err != nil {
			return d.fail(fmt.Errorf("messages[%d]: %w", i, err))
		}
		if err := d.line(p); err != nil {
			return err
		}
	}
	if _, err := d.dec.Token(); err != nil {
		return d.fail(err)
	}
	return nil
}

func (d *devtools) message() (p Line, err error) {
	var m struct {
		Timestamp float64
		Direction string
		Raw       *string
	}
	if err := d.dec.Decode(&m); err != nil {
		return p, err
	}
	if m.Raw == nil {
		return p, errors.New(`"raw" is missing`)
	}
	at, err := instant(m.Timestamp)
	if err != nil {
		return p, err
	}
	if p.At, err = sinceStart(d.start, at); err != nil {
		return p, err
	}
	p.Raw = []byte(*m.Raw)
	p.Dir, err = parseDirection(m.Direction)
	return p, err
}
