package frametext

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/termtext"
)

// Lines writes frames as lines in columns:
//
//	3    0.021  → request   session/new           /home/me/project
//	4    0.034  ← response  session/new           session 0193 · mode code  13 ms
//	5    0.040 +← notif     agent_message_chunk   Hello
//
// The columns are the frame's number; seconds since the tape began, ? if unknown; + for
// an injected frame, ~ for a rewritten one, × for a withheld one; the direction, with ⇠
// for the agent's stderr and ─ for a mark; the kind; the method, or the variant of a
// session/update; and the summary. The latency of a response follows, then the silence
// before a slow frame, the HTTP exchange at its first frame in each direction, as in
// POST 3 → 200 sse, and the size of a large frame. Failures are red, names have the hue
// of their area, and what repeats from line to line is dim.
//
// A Lines is for the frames of one tape. Memory is bounded: it remembers at most 65536
// requests.
type Lines struct {
	W     io.Writer
	Width int  // number of columns to cut lines to; 0 does not cut
	Color bool // with the 16 colours of ANSI

	// Server prefixes the numbers of a server's frames that are shown among its agent's:
	// SERVER:12. If it is empty there is no prefix.
	Server string
	Digits int           // columns of a number; 0 is enough for most tapes
	Began  time.Duration // when the tape began, relative to the tape that times count from

	Notes note.List // notes on frames, written below them
	// Marks returns the ranges of a text that match a search, which are highlighted; nil: do
	// not highlight.
	Marks func(text string) [][2]int
	// Fold omits the marks of ordinary HTTP exchanges, which their frames' lines show.
	Fold bool

	calls calls
	quiet dialect.Lull
	http  exchanges
	b     strings.Builder // the current line
	used  int             // columns used so far
	above struct{ name, summary string }
	err   error // from the first line that could not be written
}

// Pass processes a frame without writing it, so that a later response to it has a
// latency.
func (l *Lines) Pass(f *dialect.Frame) {
	l.calls.observe(f, false)
	l.quiet.Before(f)
	l.http.observe(f)
}

// Write writes the next frame's line.
func (l *Lines) Write(s *filter.Subject) error {
	f := s.Frame
	latency, answered := l.calls.observe(f, true)
	r := Row{Failure: s.Failure(), Silence: l.quiet.Before(f)}
	var ordinary bool
	if r.Stream, ordinary = l.http.observe(f); ordinary && l.Fold {
		return nil
	}
	if answered {
		r.Latency = termtext.Duration(latency)
	}
	return l.write(f, s.Tool, r)
}

// WriteJSON writes the next frame's [JSON] as a line. start is when the tape that times
// count from began.
func (l *Lines) WriteJSON(s *filter.Subject, start time.Time) error {
	latency, _ := l.calls.observe(s.Frame, true)
	f, shown := *s.Frame, *s
	f.At += l.Began
	shown.Frame, shown.Latency = &f, latency
	b, err := JSON(&shown, start)
	if err != nil {
		return err
	}
	if l.Server != "" {
		b = withMember(b, "server", l.Server)
	}
	_, err = l.W.Write(append(AddNotes(b, l.Notes.On(f.Seq)), '\n'))
	return err
}

// WriteTimed writes the line of a frame about which all is known. Earlier frames need not
// have been passed.
func (l *Lines) WriteTimed(s *filter.Subject) error {
	r := Row{Failure: s.Failure()}
	if s.Latency > 0 {
		r.Latency = termtext.Duration(s.Latency)
	}
	return l.write(s.Frame, s.Tool, r)
}

// write fills in a frame's row and writes it.
func (l *Lines) write(f *dialect.Frame, tool filter.Tool, r Row) error {
	r.Frame, r.Kind, r.Name, r.Columns = f, true, termtext.Piece(Name(f)), l.methodWidth()
	r.Number = fmt.Sprintf("%*s %8s", l.digits(), l.label(f.Seq), l.time(f))
	r.Again, r.Above = r.Name != "" && r.Name == l.above.name, l.above.summary
	l.put(r.head()...)
	tail := r.tail()
	text := Summary(*f, tool)
	l.above.name, l.above.summary = r.Name, text
	room := 0
	if l.Width > 0 {
		room = max(l.Width-l.used-termtext.SpansWidth(tail), 1)
	}
	switch {
	case l.Marks != nil:
		l.put(l.matchSpans(&r, f, text, room)...)
	case room > 0:
		text = termtext.Cut(text, room)
		fallthrough
	default:
		l.put(r.summarySpans(text)...)
	}
	l.put(tail...)
	l.end()
	for _, n := range l.Notes.On(f.Seq) {
		l.note(n)
	}
	return l.err
}

// label returns a frame's number as shown.
func (l *Lines) label(seq uint64) string {
	if l.Server == "" {
		return strconv.FormatUint(seq, 10)
	}
	return ServerLabel(l.Server) + ":" + strconv.FormatUint(seq, 10)
}

func (l *Lines) digits() int { return max(l.Digits, usualDigits) }

// time returns when a frame crossed the wire, as shown.
func (l *Lines) time(f *dialect.Frame) string {
	if f.Untimed {
		return termtext.UnknownTime
	}
	return fmt.Sprintf("%.3f", (f.At + l.Began).Seconds())
}

// note writes a note below its frame.
func (l *Lines) note(n note.Note) {
	for i, text := range NoteLines(n) {
		mark := NoteMark
		if i > 0 {
			mark = " "
		}
		l.put(termtext.Plain.Span(strings.Repeat(" ", l.digits()+timeColumns+1)), noteStyle.Span(mark+" "+text))
		l.end()
	}
}

// Written writes the notes on the tape as a whole, above its frames.
func (l *Lines) Written() error {
	if len(l.Notes.Tags) > 0 {
		l.put(noteStyle.Span("── tags: " + termtext.Piece(strings.Join(l.Notes.Tags, " "))))
		l.end()
	}
	for _, n := range l.Notes.On(0) {
		for i, text := range NoteLines(n) {
			lead := "── " + NoteMark + " "
			if i > 0 {
				lead = "     "
			}
			l.put(noteStyle.Span(lead + text))
			l.end()
		}
	}
	return l.err
}

// Interrupted records that the line above the next one belongs to another tape.
func (l *Lines) Interrupted() { l.above.name = "" }

// Heading writes a line above the frames, such as the name of their tape.
func (l *Lines) Heading(text string) error {
	l.Interrupted()
	l.put(termtext.Bold.Span("── " + termtext.Piece(text)))
	l.end()
	return l.err
}

// Trouble writes an error in place of the frames that could not be read.
func (l *Lines) Trouble(err error) error {
	l.put(termtext.Failure.Span("── " + termtext.Piece(err.Error())))
	l.end()
	return l.err
}

// Close writes which of the shown requests are unanswered, if any, and which were
// cancelled. It does not close W.
func (l *Lines) Close() error {
	open, cancelled := l.calls.unanswered(l.label)
	if open.n > 0 {
		l.put(termtext.Permission.Span("── no answer to " + open.text("request", "requests", ", ")))
		l.end()
	}
	if cancelled.n > 0 {
		l.put(termtext.Dim.Span("── cancelled, without an answer: " + cancelled.text("request", "requests", ", ")))
		l.end()
	}
	return l.err
}

// methodWidth leaves half of a narrow terminal to the summary.
func (l *Lines) methodWidth() int {
	if 0 < l.Width && l.Width < 100 {
		return len("agent_message_chunk")
	}
	return len(dialect.RequestPermission)
}

// put appends spans to the line as far as they fit.
func (l *Lines) put(spans ...termtext.Span) {
	for _, s := range spans {
		room := l.Width - l.used
		switch columns := termtext.Width(s.Text); {
		case l.Width == 0, columns <= room:
			l.used += columns
		case room <= 0:
			return
		default:
			s.Text, l.used = termtext.Cut(strings.TrimRight(s.Text, " "), room), l.Width
		}
		if l.Color {
			s.Text = s.Painted()
		}
		l.b.WriteString(s.Text)
	}
}

// end writes the line, unless an earlier write failed.
func (l *Lines) end() {
	line := strings.TrimRight(l.b.String(), " ")
	l.b.Reset()
	l.used = 0
	if l.err == nil {
		_, l.err = io.WriteString(l.W, line+"\n")
	}
}
