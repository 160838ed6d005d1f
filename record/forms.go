package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
)

// eachLine reads a file in any of the forms that Import takes, and calls line
// with each of its lines. If the file says how its tape began, begin is called
// before that, with the tape's id if there is one. Errors tell the place in the
// file, whose name is name; note is told of members that mean nothing.
func eachLine(r io.Reader, name string, note func(string), begin func(Start, string), line func(portableLine) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	if isDevtools(in) {
		limit := &limitReader{r: in}
		d := devtools{dec: json.NewDecoder(limit), limit: limit, name: name, begin: begin, line: line}
		return d.read()
	}
	var parse lineParser
	var unknown *unknownFields // of the portable form; other tools write what they like
	return readLines(in, name, func(n int, text []byte, body io.Reader) error {
		switch {
		case parse != nil:
		case isForeign(text):
			parse = foreignLines(begin)
		default:
			parse, unknown = portableLines(begin), newUnknownFields(name, note)
		}
		p, ok, err := parse(text)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if body != nil && (!ok || p.mark != nil || len(p.raw) > 0) {
			return fmt.Errorf("%s:%d: %w", name, n, errLongLine)
		}
		if !ok {
			if unknown != nil {
				unknown.seeHeader(n, text)
			}
			return nil
		}
		if unknown != nil {
			unknown.see(n, text)
		}
		p.body = body
		return line(p)
	})
}

// A lineParser reads the lines of one file, in order. ok is false for a line that
// is nothing on the tape.
type lineParser func(text []byte) (p portableLine, ok bool, err error)

func portableLines(begin func(Start, string)) lineParser {
	first := true
	var last time.Duration
	return func(text []byte) (portableLine, bool, error) {
		if first {
			first = false
			h, ok, err := parsePortableHeader(text)
			if err != nil {
				return portableLine{}, false, err
			}
			if ok {
				begin(Start{Time: h.Started, Command: h.Command, Cwd: h.Cwd, Name: h.Name, Version: h.Version, Proto: h.Proto}, h.Tape)
				return portableLine{}, false, nil
			}
		}
		p, err := parsePortableLine(text, last)
		last = p.at
		return p, true, err
	}
}

// bodies are the members in which loggers keep a message, as JSON or as the text
// of its line. Where there are several the one nearest to the bytes stands first.
var bodies = [...]string{"raw", "msg", "message", "payload", "frame", "text"}

// isForeign reports whether a file that begins with that line was written by
// another tool. Such lines have a time, a direction and a message:
//
//	{"ts":1706000000.123,"dir":"c2a","msg":{…}}                               acp-debug
//	{"ts":"2026-01-02T15:04:05.1Z","direction":"c2s","raw":{…}}               mcpsnoop
//	{"timestamp":1706000000123,"direction":"editor-to-agent","raw":"{…}"}     acp-devtools --log json
func isForeign(text []byte) bool {
	g := gjson.ParseBytes(text)
	if g.Get("acptap").Exists() {
		return false
	}
	for _, name := range [...]string{"direction", "raw", "msg", "message", "payload"} { // the portable form has none of them
		if g.Get(name).Exists() {
			return true
		}
	}
	return false
}

func foreignLines(begin func(Start, string)) lineParser {
	first := true
	var start time.Time
	var last time.Duration
	return func(text []byte) (p portableLine, ok bool, err error) {
		if !json.Valid(text) {
			return p, false, errors.New("no JSON")
		}
		g := gjson.ParseBytes(text)
		at, err := parseTime(either(g, "ts", "timestamp", "time"))
		if err != nil {
			return p, false, err
		}
		if start.IsZero() && !at.IsZero() {
			if start = at; at.Before(firstLog) {
				start = time.Unix(0, 0) // seconds since the log began
			}
		}
		dir := either(g, "direction", "dir").Str
		meta := dir == "meta" // mcpsnoop tells the command first
		if first {
			first = false
			var s Start
			if start.After(firstLog) {
				s.Time = start
			}
			if raw := g.Get("raw"); meta {
				s.Cwd = raw.Get("cwd").Str
				for _, arg := range raw.Get("command").Array() {
					s.Command = append(s.Command, arg.Str)
				}
			}
			begin(s, "")
		}
		if meta {
			return p, false, nil
		}
		if !at.IsZero() {
			since, err := sinceStart(start, at)
			if err != nil {
				return p, false, err
			}
			last = max(last, since)
		}
		p.at, p.untimed = last, at.IsZero()
		if p.dir, err = parseDirection(dir); err != nil {
			return p, false, err
		}
		switch body := either(g, bodies[:]...); {
		case body.IsObject(), body.IsArray():
			p.raw = []byte(body.Raw)
		case body.Type == gjson.String:
			p.raw = []byte(strings.TrimSuffix(body.Str, "\n"))
		default:
			return p, false, fmt.Errorf("no message; it is looked for in %q", bodies)
		}
		return p, true, nil
	}
}

// either returns the first member of g that is there and not null.
func either(g gjson.Result, names ...string) gjson.Result {
	for _, name := range names {
		if v := g.Get(name); v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}

// parseTime takes the time of another tool's line, as text or as a number. A line
// without one has the zero time.
func parseTime(v gjson.Result) (time.Time, error) {
	switch v.Type {
	case gjson.Null:
		return time.Time{}, nil
	case gjson.String:
		// Python's isoformat leaves out the zone of a time that knows none.
		for _, layout := range [...]string{time.RFC3339, "2006-01-02T15:04:05"} {
			if t, err := time.Parse(layout, v.Str); err == nil {
				return t.UTC(), nil
			}
		}
	case gjson.Number:
		return instant(v.Num)
	}
	return time.Time{}, fmt.Errorf("%s is no time", v.Raw)
}

// firstLog is before any log of these protocols, and long after any log that
// counts from its own beginning.
var firstLog = time.Unix(1e8, 0)

// instant takes seconds, milliseconds, microseconds or nanoseconds since 1970:
// their sizes tell them apart until the year 5138.
func instant(n float64) (time.Time, error) {
	if n < 0 || n >= 1e20 {
		return time.Time{}, fmt.Errorf("%v is no time", n)
	}
	micros := n * 1e6
	for micros >= 1e17 {
		micros /= 1e3
	}
	return time.UnixMicro(int64(math.Round(micros))).UTC(), nil
}

// sinceStart returns how long after the start of a tape at is. The portable form
// has no longer times.
func sinceStart(start, at time.Time) (time.Duration, error) {
	d := max(0, at.Sub(start))
	if d > 1e9*time.Second {
		return 0, fmt.Errorf("%v is too long after the beginning, %v", at, start)
	}
	return d, nil
}

// parseDirection takes c2a, client-to-agent, clientToServer, "editor → agent"
// and the like. in and out are refused: they do not say whose.
func parseDirection(name string) (wire.Direction, error) {
	letters := strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || c == '2' {
			return c
		}
		return -1
	}, strings.ToLower(name))
	switch letters {
	case "c2a", "c2s", "clienttoagent", "clienttoserver", "editortoagent", "clientagent", "clientserver", "editoragent":
		return wire.ClientToAgent, nil
	case "a2c", "s2c", "agenttoclient", "servertoclient", "agenttoeditor", "agentclient", "serverclient", "agenteditor":
		return wire.AgentToClient, nil
	case "err", "stderr", "agentstderr", "serverstderr":
		return wire.AgentStderr, nil
	}
	return 0, fmt.Errorf("%q is no direction; there are c2a, client-to-agent, a2c, agent-to-client, err and the like", name)
}

// devtools reads the JSON export of acp-devtools, version 1: one object, which
// may be larger than memory, with the session before the messages.
type devtools struct {
	dec   *json.Decoder
	limit *limitReader
	name  string
	begin func(Start, string)
	line  func(portableLine) error
	start time.Time
}

// isDevtools looks at the beginning of a file. The export may be indented.
func isDevtools(in *bufio.Reader) bool {
	head, _ := in.Peek(256)
	head, ok := bytes.CutPrefix(bytes.TrimSpace(head), []byte("{"))
	head = bytes.TrimSpace(head)
	return ok && (bytes.HasPrefix(head, []byte(`"version"`)) || bytes.HasPrefix(head, []byte(`"exportedAt"`)))
}

func (d *devtools) read() error {
	d.dec.Token() // the brace, which isDevtools saw
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
		return d.fail(errors.New("something stands behind the export"))
	}
	return nil
}

// A limitReader refuses to read so much that a message would be too long to be
// held.
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

// endsEarly reports whether a json.Decoder met the end of its input within a
// value. Which of the three errors that is depends on the place and on the
// release of Go.
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
	d.begin(Start{Time: d.start, Command: strings.Fields(s.AgentCommand), Name: s.Name, Proto: "acp"}, "")
	return nil
}

// messages does not wrap the errors of line: their place is not in the file.
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

func (d *devtools) message() (p portableLine, err error) {
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
	if p.at, err = sinceStart(d.start, at); err != nil {
		return p, err
	}
	p.raw = []byte(*m.Raw)
	p.dir, err = parseDirection(m.Direction)
	return p, err
}
