package frametext

import (
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Row shows a frame in a list, in columns:
//
//	▪ 12    0.345  → request  session/prompt ×2     Fix the tests     2.3 s
type Row struct {
	Frame   *dialect.Frame // only its fields are used
	Failure dialect.Failure
	Silence time.Duration // before a slow frame; 0 if unknown
	Server  bool          // the frame is a server's, shown among its agent's
	Rule    bool          // the frame is a mark of a rule; need not be set if it has its bytes
	Number  string        // with the time, aligned by the caller
	Mark    termtext.Span // one column after the number; blank if empty
	Kind    bool          // show the column of kinds
	Name    string        // as Name returns it, or cut
	Columns int           // width of the name's column
	Summary string
	Latency string // may be empty
	Waits   string // how long it has been waiting for a response; empty if it is not
	Stream  string // text about its HTTP exchange, such as POST 3; may be empty
	Again   bool   // the row above has the same name
	Above   string // summary of the row above, if Again
}

// head returns the columns before the summary.
func (r *Row) head() []termtext.Span {
	f := r.Frame
	role, _ := r.role()
	name := role
	if r.Again && r.Failure == dialect.NoFailure {
		name = termtext.Repeats
	}
	number, mark := termtext.Dim.Span(r.Number), r.Mark
	if r.Server {
		number.Style = termtext.Servers
	}
	if mark.Text == "" {
		mark.Text = " "
	}
	kind := " "
	if r.Kind {
		kind = r.kindName()
	}
	return []termtext.Span{
		number,
		mark,
		termtext.Bold.Span(originSigns[min(f.Origin, wire.Rewritten)]),
		role.Span(arrow(f)),
		termtext.Dim.Span(kind),
		name.Span(termtext.Pad(r.Name, r.Columns) + "  "),
	}
}

// tail returns what follows the summary: how long the frame took or has waited, the
// silence before it if that was long, and the size of a large one.
func (r *Row) tail() []termtext.Span {
	var list []termtext.Span
	switch {
	case r.Failure == dialect.Unanswered:
		list = append(list, termtext.Failure.Span("  no answer"))
	case r.Waits != "":
		list = append(list, termtext.Permission.Span("  "+r.Waits))
	case r.Latency != "":
		list = append(list, termtext.Dim.Span("  "+r.Latency))
	}
	switch {
	case r.Frame.Slow() == dialect.NotSlow:
	case r.Silence == 0 || r.Frame.Slow() == dialect.Hung:
		list = append(list, termtext.Permission.Span("  slow"))
	default:
		list = append(list, termtext.Permission.Span("  after "+termtext.Duration(r.Silence)+" of silence"))
	}
	if r.Stream != "" {
		list = append(list, termtext.Dim.Span("  "+r.Stream))
	}
	if r.Frame.Redelivered {
		list = append(list, termtext.Dim.Span("  sent again"))
	}
	if r.Frame.Size >= largeFrame {
		list = append(list, termtext.Dim.Span("  "+termtext.ByteSize(r.Frame.Size)))
	}
	return list
}

// Spans returns the row in exactly width columns: it cuts the summary or adds blanks.
func (r *Row) Spans(width int) []termtext.Span {
	line := r.head()
	tail := r.tail()
	if room := width - termtext.SpansWidth(line) - termtext.SpansWidth(tail); room > 0 {
		summary := termtext.Cut(r.Summary, room)
		line = append(line, r.summarySpans(summary)...)
		line = append(line, termtext.Plain.Span(strings.Repeat(" ", room-termtext.Width(summary))))
	}
	return append(line, tail...)
}

// largeFrame is the smallest frame size that is shown, in bytes.
const largeFrame = 10_000

var originSigns = [...]string{wire.Wire: " ", wire.Withheld: "×", wire.Injected: "+", wire.Rewritten: "~"}

// kindNames are the texts in the column of kinds; the most frequent one is shortened.
var kindNames = [...]string{
	wire.Invalid:      " invalid   ",
	wire.Request:      " request   ",
	wire.Response:     " response  ",
	wire.Notification: " notif     ",
	wire.Batch:        " batch     ",
	wire.Oversized:    " oversized ",
	wire.Stderr:       " stderr    ",
	wire.Mark:         " mark      ",
	wire.Body:         " body      ",
}

// IsRule reports whether a frame, with its bytes, is a mark of a rule.
func IsRule(f *dialect.Frame) bool { return wire.ReadMark(f.Frame).Rule != nil }

// kindName returns the text in the column of kinds.
func (r *Row) kindName() string {
	if r.Rule || IsRule(r.Frame) {
		return " rule      "
	}
	return kindNames[min(r.Frame.Kind, wire.Body)]
}

// arrow returns the symbol for a frame's direction.
func arrow(f *dialect.Frame) string {
	switch {
	case f.Kind == wire.Mark:
		return "─"
	case f.Dir == wire.ClientToAgent:
		return "→"
	case f.Dir == wire.AgentToClient:
		return "←"
	}
	return "⇠"
}
