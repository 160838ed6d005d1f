package record

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/termtext"
)

// The portable form of a tape is JSON Lines: a header, then a line for each
// frame.
//
//	{"acptap":1,"tape":"…","started":"2026-01-02T15:04:05Z","command":["agent"],"cwd":"/w"}
//	{"seq":1,"at":0.013,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"initialize"}}
//	{"seq":2,"at":0.015,"dir":"err","text":"ready"}
//	{"seq":3,"at":0.021,"dir":"c2a","eof":true}
//
// frame holds the bytes themselves where they are JSON without blanks around
// it, and nothing in them could control a terminal (termtext.JSON); else text (valid
// UTF-8) or base64 holds them. origin is left out for the
// wire, end for a line feed. Marks have the fields of wire.Marked. Only dir and
// one of frame, text, base64 or a mark must be there: without at nobody knows when it
// was, but not before the line before, and seq is the next number. Numbers that are left out stay left out; where
// they do not rise, lines are numbered on from there (loader.number).

// portableHeader is the first line.
type portableHeader struct {
	Acptap  int       `json:"acptap"`
	Tape    string    `json:"tape,omitempty"`
	Started time.Time `json:"started,omitzero"`
	Command []string  `json:"command,omitempty"`
	Cwd     string    `json:"cwd,omitempty"`
	Name    string    `json:"name,omitempty"`
	Version string    `json:"version,omitempty"`
	Proto   string    `json:"protocol,omitempty"`
}

// An Exporter writes frames in the portable form.
type Exporter struct {
	// Stable leaves out the numbers of frames, and times but for the second, so
	// that the text of a conversation that is recorded again is hardly another.
	Stable bool

	w    *bufio.Writer
	raw  bool
	b    []byte
	last time.Duration // that was written with Stable
}

// NewExporter begins to write a tape with the given facts to w. Secrets are
// redacted, unless raw is set.
func NewExporter(w io.Writer, info Info, raw bool) (*Exporter, error) {
	e := &Exporter{w: bufio.NewWriterSize(w, 64<<10), raw: raw}
	s := info.Start
	head, err := json.Marshal(portableHeader{Format, info.Tape, s.Time.UTC(), s.Command, s.Cwd, s.Name, s.Version, s.Proto})
	if err != nil {
		return nil, err
	}
	if !raw {
		head = redact.JSON(head)
	}
	_, err = e.w.Write(append(termtext.JSON(head), '\n'))
	return e, err
}

// Write writes one frame of t, with all of its bytes.
func (e *Exporter) Write(t *Tape, f dialect.Frame) error {
	b := e.place(append(e.b[:0], '{'), f)
	b = append(append(append(b, `"dir":"`...), f.Dir.String()...), '"')
	if f.Origin != wire.Wire {
		b = append(append(append(b, `,"origin":"`...), f.Origin.String()...), '"')
	}
	if f.End != wire.LF && f.Kind != wire.Mark {
		b = append(append(append(b, `,"end":"`...), f.End.String()...), '"')
	}
	e.b = b
	raw := f.Raw
	if int64(len(raw)) < f.Size {
		if e.raw || f.Size > redact.MaxSize {
			return e.long(t, f)
		}
		var whole bytes.Buffer // to find what is secret, all of it is needed
		whole.Grow(int(f.Size) + bytes.MinRead)
		if err := t.WriteFrame(&whole, f.Seq); err != nil {
			return err
		}
		raw = whole.Bytes()
	}
	if !e.raw {
		raw = redact.Frame(f.Kind, raw)
	}
	switch {
	case f.Kind == wire.Mark && len(raw) > 2 && raw[0] == '{':
		b = append(append(b, ','), termtext.JSON(raw)[1:]...)
		b = append(b, '\n')
	case f.Kind.IsMessage() && len(bytes.TrimSpace(raw)) == len(raw) && bytes.Equal(termtext.JSON(raw), raw):
		b = append(append(append(b, `,"frame":`...), raw...), "}\n"...)
	case utf8.Valid(raw):
		return e.text(append(b, `,"text":"`...), raw)
	default:
		b = base64.StdEncoding.AppendEncode(append(b, `,"base64":"`...), raw)
		b = append(b, "\"}\n"...)
	}
	e.b = b
	_, err := e.w.Write(b)
	return err
}

// text writes the rest of a line behind b: text, which may take six times as many
// bytes as JSON, piece by piece.
func (e *Exporter) text(b, text []byte) error {
	const size = 32 << 10
	for len(text) > size {
		end := size
		for !utf8.RuneStart(text[end]) {
			end--
		}
		if _, err := e.w.Write(termtext.AppendInQuotes(b, text[:end])); err != nil {
			return err
		}
		b, text = b[:0], text[end:]
	}
	b = append(termtext.AppendInQuotes(b, text), "\"}\n"...)
	e.b = b
	_, err := e.w.Write(b)
	return err
}

// place appends the number of a frame and when it came.
func (e *Exporter) place(b []byte, f dialect.Frame) []byte {
	at := f.At
	if e.Stable {
		if at = at.Truncate(time.Second); at <= e.last {
			return b // as in the line before
		}
		e.last = at
	} else {
		b = append(strconv.AppendUint(append(b, `"seq":`...), f.Seq, 10), ',')
	}
	if f.Untimed {
		return b
	}
	return append(appendSeconds(append(b, `"at":`...), at), ',')
}

// long writes a frame that is too long to be held in memory. Nobody has checked
// that it is JSON, so it is bytes; where secrets are to be redacted, it is left
// out.
func (e *Exporter) long(t *Tape, f dialect.Frame) error {
	if !e.raw {
		_, err := e.w.Write(fmt.Appendf(e.b, `,"text":"[redacted: a frame of %d bytes]"}`+"\n", f.Size))
		return err
	}
	e.w.Write(append(e.b, `,"base64":"`...))
	enc := base64.NewEncoder(base64.StdEncoding, e.w)
	if err := t.WriteFrame(enc, f.Seq); err != nil {
		return err
	}
	enc.Close()
	_, err := e.w.WriteString("\"}\n")
	return err
}

// Close writes out what is buffered. It does not close the underlying writer.
func (e *Exporter) Close() error { return e.w.Flush() }

// appendSeconds appends a duration as seconds, to the nanosecond.
func appendSeconds(b []byte, d time.Duration) []byte {
	b = strconv.AppendInt(b, int64(d/time.Second), 10)
	if ns := d % time.Second; ns > 0 {
		b = append(b, '.')
		digits := fmt.Appendf(nil, "%09d", ns)
		b = append(b, bytes.TrimRight(digits, "0")...)
	}
	return b
}

// A portableLine is one line of a portable file: bytes of a direction, or a
// mark.
type portableLine struct {
	seq     uint64 // 0: none is given
	dir     wire.Direction
	origin  wire.Origin
	at      time.Duration
	untimed bool // none is given, and at is that of the line before
	end     wire.LineEnd
	raw     []byte
	body    io.Reader // in place of raw, of a line that is too long to be held
	mark    *wire.Marked
}

// readLines reads lines of any length, and calls f with each and its number from
// 1. Blank lines are passed over. Of a line that is too long to be held body has
// the bytes; else it is nil. Both are valid until f returns, which has read all of
// body then. Errors of body tell the line, and the file's name.
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
			if err := f(n, short, placed{body, name, n}); err != nil {
				return err
			}
			continue
		}
		if t := bytes.TrimSpace(line); len(t) > 0 {
			if err := f(n, t, nil); err != nil {
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

// parsePortableHeader reads a header. ok is false if line is none.
func parsePortableHeader(line []byte) (h portableHeader, ok bool, err error) {
	if !gjson.GetBytes(line, "acptap").Exists() {
		return h, false, nil
	}
	err = json.Unmarshal(line, &h)
	if is := (*json.UnmarshalTypeError)(nil); errors.As(err, &is) {
		return h, true, fmt.Errorf("header: %q cannot be of type %s", is.Field, is.Value)
	}
	if err != nil {
		return h, true, fmt.Errorf("header: %w", err)
	}
	if h.Acptap > Format {
		return h, true, fmt.Errorf("portable form of version %d: %w", h.Acptap, ErrNewer)
	}
	return h, true, nil
}

// parsePortableLine reads a line that is no header. last is the time of the one
// before.
func parsePortableLine(line []byte, last time.Duration) (portableLine, error) {
	l := portableLine{at: last, untimed: true}
	if !json.Valid(line) {
		return l, errors.New("no JSON")
	}
	g := gjson.ParseBytes(line)
	if !g.IsObject() {
		return l, errors.New("no JSON object")
	}
	dir := g.Get("dir")
	if !dir.Exists() {
		return l, errors.New(`"dir" is missing; it is c2a, a2c or err`)
	}
	if err := l.dir.UnmarshalText([]byte(dir.Str)); err != nil {
		return l, err
	}
	if v := g.Get("origin"); v.Exists() {
		if err := l.origin.UnmarshalText([]byte(v.Str)); err != nil {
			return l, err
		}
	}
	if v := g.Get("end"); v.Exists() {
		if err := l.end.UnmarshalText([]byte(v.Str)); err != nil {
			return l, err
		}
	}
	if v := g.Get("seq"); v.Exists() {
		n, err := strconv.ParseUint(v.Raw, 10, 64)
		if err != nil || n > maxSeq {
			return l, fmt.Errorf(`"seq": %s is no number of a frame`, v.Raw)
		}
		l.seq = n
	}
	if v := g.Get("at"); v.Exists() {
		at, err := strconv.ParseFloat(v.Raw, 64)
		if err != nil || at < 0 || at > 1e9 {
			return l, fmt.Errorf("%q is no time in seconds", v.Raw)
		}
		l.at, l.untimed = time.Duration(at*1e9+0.5), false
	}
	switch frame, text, b64 := g.Get("frame"), g.Get("text"), g.Get("base64"); {
	case frame.Exists():
		l.raw = []byte(frame.Raw)
	case text.Type == gjson.String:
		l.raw = []byte(text.Str)
	case b64.Type == gjson.String:
		var err error
		if l.raw, err = base64.StdEncoding.DecodeString(b64.Str); err != nil {
			return l, fmt.Errorf("base64: %w", err)
		}
	default:
		l.mark = new(wire.Marked)
		if err := json.Unmarshal(line, l.mark); err != nil {
			return l, err
		}
		if *l.mark == (wire.Marked{}) {
			return l, errors.New(`neither "frame", "text", "base64" nor a mark`)
		}
		if l.mark.Gap < 0 || l.mark.Damage < 0 {
			return l, errors.New(`"gap" and "damage" are numbers of bytes`)
		}
	}
	return l, nil
}
