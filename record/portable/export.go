package portable

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/termtext"
)

// An Exporter writes frames in the portable form.
type Exporter struct {
	// Stable omits the numbers of frames, and truncates times to seconds, so that recording
	// a conversation again hardly changes the text.
	Stable bool

	// The notes and the secrets of the tape being written, set by NewExporter.
	Notes   note.List
	Secrets *redact.Redaction

	w    *bufio.Writer
	b    []byte
	last time.Duration // last time written with Stable
}

// NewExporter begins to write a tape to w, without the secrets that secrets finds. If
// secrets is nil, everything is written unredacted.
func NewExporter(w io.Writer, h Head, secrets *redact.Redaction) (*Exporter, error) {
	e := &Exporter{w: bufio.NewWriterSize(w, 64<<10), Secrets: secrets, Notes: h.Notes}
	s := h.Start
	s.Parent.Claimed = false // whoever imports the file decides
	head, err := json.Marshal(header{
		disk.Format, h.Needs, h.Tape, s.Time.UTC(), s.Command, s.Cwd, s.Name, s.Version, s.Proto,
		s.Parent, s.Transport, s.Upstream, h.Notes.Tags, placed(h.Notes.On(0)),
	})
	if err != nil {
		return nil, err
	}
	if secrets != nil {
		head = redact.JSON(head)
	}
	_, err = e.w.Write(append(termtext.JSON(head), '\n'))
	return e, err
}

// Write writes one frame of t with all of its bytes.
func (e *Exporter) Write(t redact.Source, f dialect.Frame) error {
	unread := e.Secrets == nil && int64(len(f.Raw)) < f.Size
	if e.Secrets != nil {
		var err error
		if f, err = e.Secrets.Frame(t, f); err != nil {
			return err
		}
	} else if unread && f.Derived {
		f.Lead, f.Derived = nil, false // only the beginning is in memory
	}
	b := e.place(append(e.b[:0], '{'), f)
	b = append(append(append(b, `"dir":"`...), f.Dir.String()...), '"')
	if f.Origin != wire.Wire {
		b = append(append(append(b, `,"origin":"`...), f.Origin.String()...), '"')
	}
	if f.End != wire.LF && f.Kind != wire.Mark {
		b = append(append(append(b, `,"end":"`...), f.End.String()...), '"')
	}
	b = appendFraming(b, framingOf(&f))
	b, err := e.appendNotes(b, f.Seq)
	if err != nil {
		return err
	}
	if unread {
		e.b = b
		return e.writeUnread(t, f.Seq)
	}
	switch raw := f.Raw; {
	case f.Kind == wire.Mark && len(raw) > 2 && raw[0] == '{':
		b = append(append(b, ','), termtext.JSON(raw)[1:]...)
		b = append(b, '\n')
	case f.Kind.IsMessage() && len(bytes.TrimSpace(raw)) == len(raw) && bytes.Equal(termtext.JSON(raw), raw):
		b = append(append(append(b, `,"frame":`...), raw...), "}\n"...)
	case utf8.Valid(raw):
		return e.writeText(append(b, `,"text":"`...), raw)
	default:
		b = base64.StdEncoding.AppendEncode(append(b, `,"base64":"`...), raw)
		b = append(b, "\"}\n"...)
	}
	e.b = b
	_, err = e.w.Write(b)
	return err
}

// framingOf returns the framing of a frame in its stream.
func framingOf(f *dialect.Frame) Framing {
	return Framing{Stream: f.Stream, Lead: f.Lead, Derived: f.Derived && f.Kind != wire.Mark, Redelivered: f.Redelivered, Body: f.Kind == wire.Body}
}

// WriteFinding writes what rules found in the last frame, a JSON object. The caller must
// have redacted it.
func (e *Exporter) WriteFinding(finding []byte) error {
	e.b = append(append(append(e.b[:0], `{"finding":`...), termtext.JSON(finding)...), "}\n"...)
	_, err := e.w.Write(e.b)
	return err
}

// appendNotes appends the notes on a frame, if there are any.
func (e *Exporter) appendNotes(b []byte, frame uint64) ([]byte, error) {
	notes := placed(e.Notes.On(frame))
	if len(notes) == 0 {
		return b, nil
	}
	if e.Secrets != nil {
		for i, n := range notes {
			notes[i].Text = redact.Text(n.Text)
		}
	}
	text, err := json.Marshal(notes)
	return append(append(b, `,"notes":`...), termtext.JSON(text)...), err
}

// placed returns notes without ID and frame, which their place implies.
func placed(notes []note.Note) []note.Note {
	notes = slices.Clone(notes)
	for i := range notes {
		notes[i].ID, notes[i].Frame = 0, 0
	}
	return notes
}

// writeText writes a line that begins with line and ends with text. In JSON the text may
// take six times as many bytes, so writeText writes it in pieces, never splitting a
// character.
func (e *Exporter) writeText(line, text []byte) error {
	const maxPiece = 32 << 10
	for len(text) > maxPiece {
		end := maxPiece
		for !utf8.RuneStart(text[end]) {
			end--
		}
		if _, err := e.w.Write(termtext.AppendInQuotes(line, text[:end])); err != nil {
			return err
		}
		line, text = line[:0], text[end:]
	}
	line = append(termtext.AppendInQuotes(line, text), "\"}\n"...)
	e.b = line
	_, err := e.w.Write(line)
	return err
}

// place appends the number and the time of a frame.
func (e *Exporter) place(b []byte, f dialect.Frame) []byte {
	at := f.At
	if e.Stable {
		if at = at.Truncate(time.Second); at <= e.last {
			return b // same as in the line before
		}
		e.last = at
	} else {
		b = append(strconv.AppendUint(append(b, `"seq":`...), f.Seq, 10), ',')
	}
	if f.Untimed {
		return b
	}
	return append(termtext.Seconds(at).Append(append(b, `"at":`...)), ',')
}

// writeUnread ends a line with a frame that is not in memory. Since that may not be JSON,
// its bytes become base64.
func (e *Exporter) writeUnread(t redact.Source, seq uint64) error {
	e.w.Write(append(e.b, `,"base64":"`...))
	enc := base64.NewEncoder(base64.StdEncoding, e.w)
	if err := t.WriteFrame(enc, seq); err != nil {
		return err
	}
	enc.Close()
	_, err := e.w.WriteString("\"}\n")
	return err
}

// Close flushes the exporter. It does not close the underlying writer.
func (e *Exporter) Close() error { return e.w.Flush() }
