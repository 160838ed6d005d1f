package inspect

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// Lines writes frames as lines in columns:
//
//	3    0.021  → request   session/new           /home/me/project
//	4    0.034  ← response  session/new           session 0193 · mode code  13 ms
//	5    0.040 +← notif     agent_message_chunk   Hello
//
// The columns are the frame's number; seconds since the tape began, ? where nobody knows; + of an
// injected frame, ~ of a rewritten one, × of one that was withheld; the
// direction, with ⇠ for the agent's stderr and ─ for a mark; the kind; the
// method, or the variant of a session/update; and the summary. Behind it stand
// the latency of a response and the size of what is large. Failed responses,
// invalid lines and losses are red.
//
// A Lines is for the frames of one tape. Its memory is bounded: it remembers at
// most 65536 requests.
type Lines struct {
	W     io.Writer
	Width int  // columns that a line is cut to; 0: lines are not cut
	Color bool // with the 16 colours of ANSI

	calls calls
	b     strings.Builder // the line that is written
	used  int             // columns of it
}

// Pass takes a frame that is not to be written. A later response to it has a
// latency all the same.
func (l *Lines) Pass(f *dialect.Frame) { l.calls.see(f, false) }

// Write writes the line of the next frame.
func (l *Lines) Write(f *dialect.Frame) error {
	latency, answered := l.calls.see(f, true)
	return l.write(f, latency, answered)
}

// WriteJSON writes what [JSON] returns for the next frame as a line. start is
// when the tape began.
func (l *Lines) WriteJSON(f *dialect.Frame, start time.Time) error {
	latency, _ := l.calls.see(f, true)
	b, err := JSON(*f, start, latency)
	if err != nil {
		return err
	}
	_, err = l.W.Write(append(b, '\n'))
	return err
}

// WriteHit writes the line of a frame that a Search has found.
func (l *Lines) WriteHit(h Hit) error { return l.write(&h.Frame, h.Latency, h.Latency > 0) }

func (l *Lines) write(f *dialect.Frame, latency time.Duration, answered bool) error {
	sign, direction := arrow(f)
	look := look(f)
	at := termtext.Pad("", 7) + termtext.UnknownTime
	if !f.Untimed {
		at = fmt.Sprintf("%8.3f", f.At.Seconds())
	}
	l.put(termtext.Dim, fmt.Sprintf("%5d %s ", f.Seq, at))
	l.put(termtext.Magenta, originSigns[min(f.Origin, wire.Rewritten)])
	l.put(direction, sign)
	l.put(termtext.Dim, fmt.Sprintf(" %-9s ", kindName(f)))
	l.put(look, termtext.Pad(termtext.Piece(name(f)), l.methodWidth())+"  ")

	var behind string
	if answered {
		behind = "  " + termtext.Duration(latency)
	}
	if f.Size >= largeFrame {
		behind += "  " + termtext.ByteSize(f.Size)
	}
	said := Summary(*f)
	if l.Width > 0 {
		said = termtext.Cut(said, max(l.Width-l.used-termtext.Width(behind), 1))
	}
	l.put(look, said)
	l.put(termtext.Dim, behind)
	return l.end()
}

// Heading writes a line above the frames, such as the name of their tape.
func (l *Lines) Heading(text string) error {
	l.put(termtext.Bold, "── "+termtext.Piece(text))
	return l.end()
}

// Trouble writes in place of the frames that could not be read.
func (l *Lines) Trouble(err error) error {
	l.put(termtext.Red, "── "+termtext.Piece(err.Error()))
	return l.end()
}

// Close writes which of the requests that were written have no answer, if there
// are any, and which were cancelled. It does not close W.
func (l *Lines) Close() error {
	open, cancelled := l.calls.unanswered()
	if open.n > 0 {
		l.put(termtext.Yellow, "── no answer to "+open.tell("request", "requests", ", "))
		if err := l.end(); err != nil {
			return err
		}
	}
	if cancelled.n > 0 {
		l.put(termtext.Dim, "── cancelled, without an answer: "+cancelled.tell("request", "requests", ", "))
		return l.end()
	}
	return nil
}

// largeFrame is from where on a frame's size is told, in bytes.
const largeFrame = 10_000

var originSigns = [...]string{wire.Wire: " ", wire.Withheld: "×", wire.Injected: "+", wire.Rewritten: "~"}

// kindNames are the kinds, the most frequent one cut short.
var kindNames = [...]string{
	wire.Invalid:      "invalid",
	wire.Request:      "request",
	wire.Response:     "response",
	wire.Notification: "notif",
	wire.Batch:        "batch",
	wire.Oversized:    "oversized",
	wire.Stderr:       "stderr",
	wire.Mark:         "mark",
}

// kindName returns what stands in a line for the kind of a frame.
func kindName(f *dialect.Frame) string {
	if wire.ReadMark(f.Frame).Rule != nil {
		return "rule"
	}
	return kindNames[min(f.Kind, wire.Mark)]
}

// methodWidth leaves half of a narrow terminal to the summary.
func (l *Lines) methodWidth() int {
	if 0 < l.Width && l.Width < 100 {
		return len("agent_message_chunk")
	}
	return len("session/request_permission")
}

// put appends text to the line, as far as there is room.
func (l *Lines) put(s termtext.Style, text string) {
	room := l.Width - l.used
	switch {
	case l.Width == 0, termtext.Width(text) <= room:
		l.used += termtext.Width(text)
	case room <= 0:
		return
	default:
		text, l.used = termtext.Cut(strings.TrimRight(text, " "), room), l.Width
	}
	if l.Color && strings.TrimSpace(text) != "" {
		text = s.Paint(text)
	}
	l.b.WriteString(text)
}

func (l *Lines) end() error {
	line := strings.TrimRight(l.b.String(), " ")
	l.b.Reset()
	l.used = 0
	_, err := io.WriteString(l.W, line+"\n")
	return err
}
