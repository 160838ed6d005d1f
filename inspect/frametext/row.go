package frametext

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Row is a frame as it stands in a list, in columns:
//
//	▪ 12    0.345  → request  session/prompt ×2     Fix the tests     2.3 s
type Row struct {
	Frame   *dialect.Frame // of which only the fields are looked at
	Problem bool           // as IsProblem says of the whole frame
	Number  string         // and the time, aligned by who makes the row
	Kind    bool           // whether the kind has a column
	Name    string         // as Name returns it, or cut
	Columns int            // of the name
	Summary string
	Latency string // empty: none
	Waits   string // for a response; empty: it does not
}

// head returns the columns before the summary, and the style of that.
func (r *Row) head() ([]termtext.Span, termtext.Style) {
	f := r.Frame
	style := r.style()
	sign, direction := arrow(f)
	kind := " "
	if r.Kind {
		kind = kindName(f)
	}
	return []termtext.Span{
		termtext.Dim.Span(r.Number),
		termtext.Magenta.Span(originSigns[min(f.Origin, wire.Rewritten)]),
		direction.Span(sign),
		termtext.Dim.Span(kind),
		style.Span(termtext.Pad(r.Name, r.Columns) + "  "),
	}, style
}

// tail returns what stands behind the summary: how long the frame took or waits,
// and how large it is.
func (r *Row) tail() []termtext.Span {
	var list []termtext.Span
	switch {
	case r.Waits != "":
		list = append(list, termtext.Yellow.Span("  "+r.Waits))
	case r.Latency != "":
		list = append(list, termtext.Dim.Span("  "+r.Latency))
	}
	if r.Frame.Size >= largeFrame {
		list = append(list, termtext.Dim.Span("  "+termtext.ByteSize(r.Frame.Size)))
	}
	return list
}

// Spans returns the row in that many columns: the summary is cut, or blanks stand
// behind it.
func (r *Row) Spans(width int) []termtext.Span {
	line, style := r.head()
	tail := r.tail()
	if room := width - termtext.SpansWidth(line) - termtext.SpansWidth(tail); room > 0 {
		line = append(line, style.Span(termtext.Pad(termtext.Cut(r.Summary, room), room)))
	}
	return append(line, tail...)
}

// style returns the style of a frame's name and summary.
func (r *Row) style() termtext.Style {
	switch {
	case r.Problem:
		return termtext.Red
	case r.Frame.Kind == wire.Mark, r.Frame.Kind == wire.Stderr:
		return termtext.Yellow
	case r.Frame.Origin == wire.Withheld:
		return termtext.Dim
	}
	return termtext.Plain
}

// largeFrame is from where on a frame's size is shown, in bytes.
const largeFrame = 10_000

var originSigns = [...]string{wire.Wire: " ", wire.Withheld: "×", wire.Injected: "+", wire.Rewritten: "~"}

// kindNames are the columns of the kinds, the most frequent one cut short.
var kindNames = [...]string{
	wire.Invalid:      " invalid   ",
	wire.Request:      " request   ",
	wire.Response:     " response  ",
	wire.Notification: " notif     ",
	wire.Batch:        " batch     ",
	wire.Oversized:    " oversized ",
	wire.Stderr:       " stderr    ",
	wire.Mark:         " mark      ",
}

// kindName returns the column of the kind of a frame. Of a mark that is a
// rule it takes the bytes to know that.
func kindName(f *dialect.Frame) string {
	if f.Kind == wire.Mark && wire.ReadMark(f.Frame).Rule != nil {
		return " rule      "
	}
	return kindNames[min(f.Kind, wire.Mark)]
}

// arrow returns the sign of a frame's direction.
func arrow(f *dialect.Frame) (string, termtext.Style) {
	switch {
	case f.Kind == wire.Mark:
		return "─", termtext.Dim
	case f.Dir == wire.ClientToAgent:
		return "→", termtext.Cyan
	case f.Dir == wire.AgentToClient:
		return "←", termtext.Green
	}
	return "⇠", termtext.Yellow
}

// IsProblem reports whether a frame is an error, or invalid, or a mark of a gap or
// a fault. How the agent ended is neither: many clients end it by a signal.
func IsProblem(f *dialect.Frame) bool {
	if f.Kind == wire.Mark {
		m := wire.ReadMark(f.Frame)
		return m.Gap != 0 || m.Damage != 0 || m.Error != "" || m.Fault != ""
	}
	return f.Failed || f.Kind == wire.Invalid
}
