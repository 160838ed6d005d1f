package tapelist

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// Write writes the columns that distinguish tapes, for a terminal of 80 columns.
func Write(c cli.Canvas, rows []Row, now time.Time) error {
	t := &cli.Table{Color: c.Color, Right: []int{1, 4, 5}}
	t.Heading("  TAPE", "AGE", "AGENT", "TITLE", "TURNS", "FAILED")
	for _, r := range rows {
		turns := termtext.NonZero(int64(r.Turns))
		if r.Partial {
			turns = atLeast(true, fmt.Sprint(r.Turns))
		}
		t.Spans(shortSpans(r), termtext.Dim.Line(tapetext.Age(now.Sub(r.Start.Time))), agentSpans(r, shortAgent(r.Info, c.Width)), titleSpans(r),
			termtext.Plain.Line(turns), Failures(r.Failures, r.Partial))
	}
	return t.Write(c.W, c.Width, 2, 3)
}

// shortSpans returns the short id, with a mark before it if the tape is live.
func shortSpans(r Row) []termtext.Span {
	if r.Live {
		return []termtext.Span{termtext.Green.Span("● "), termtext.Bold.Span(r.Short)}
	}
	return termtext.Plain.Line("  " + r.Short)
}

func agentSpans(r Row, name string) []termtext.Span {
	if r.Level > 0 {
		return []termtext.Span{termtext.Dim.Span(strings.Repeat("  ", r.Level-1) + "└ "), termtext.Plain.Span(name)}
	}
	return termtext.Plain.Line(name)
}

// shortAgent returns one name for a tape's agent, without the scope of its package. The
// name is at most a fifth of the terminal's width: where all tapes have the same agent,
// titles say more.
func shortAgent(i record.Info, width int) string {
	name := cmp.Or(i.Start.Name, i.Connection.AgentTitle, i.Connection.Agent, tapetext.AgentName(i))
	if scope, rest, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(scope, "@") {
		name = rest
	}
	if width > 0 {
		name = termtext.Cut(termtext.Line(name), max(width/5, 8))
	}
	return name
}

// titleSpans returns what is missing on the tape, its tags and notes, and its topic or,
// without one, its place.
func titleSpans(r Row) []termtext.Span {
	spans := writtenSpans(r)
	if r.Lost > 0 {
		// Without colours, the dot separates it from the title.
		spans = append([]termtext.Span{termtext.Failure.Span(termtext.ByteSize(r.Lost) + " not recorded"), termtext.Dim.Span(" · ")}, spans...)
	}
	return spans
}

// writtenSpans returns the tags and notes of a tape, and its topic.
func writtenSpans(r Row) (spans []termtext.Span) {
	about := termtext.Plain.Span(r.Title)
	if r.Title == "" {
		about = termtext.Dim.Span(tapetext.Place(r.Info))
	}
	for _, part := range []termtext.Span{termtext.Cyan.Span(tapetext.Tags(r.Tags)), termtext.Bold.Span(notesText(r.Notes)), about} {
		if part.Text == "" {
			continue
		}
		if len(spans) > 0 {
			part.Text = " " + part.Text
		}
		spans = append(spans, part)
	}
	return spans
}

// notesText returns the mark for notes and their number.
func notesText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s%d", frametext.NoteMark, n)
}

// Failures returns a number of failures, in red unless it is 0. partial means that more may
// be uncounted.
func Failures(n uint64, partial bool) []termtext.Span {
	if n == 0 {
		return nil
	}
	return termtext.Failure.Line(atLeast(partial, fmt.Sprint(n)))
}

// WriteWide writes all columns. STATE includes what is missing on a tape.
func WriteWide(c cli.Canvas, rows []Row) error {
	t := &cli.Table{Color: c.Color}
	t.Heading("TAPE", "STARTED", "AGENT", "STATE", "TURNS", "FAILED", "FRAMES", "SIZE", "SESSIONS", "CLIENT", "TITLE")
	text := termtext.Plain.Line
	for _, r := range rows {
		number := func(n uint64) []termtext.Span { return text(atLeast(r.Partial, fmt.Sprint(n))) }
		t.Spans(text(r.Tape), text(tapetext.Time(r.Start.Time)), agentSpans(r, tapetext.AgentName(r.Info)), stateSpans(r.Info),
			number(r.Turns), Failures(r.Failures, r.Partial), number(r.Frames), text(atLeast(r.Partial, termtext.ByteSize(r.Bytes))), number(r.Sessions),
			text(r.Connection.Client), writtenSpans(r))
	}
	return t.Write(c.W, c.Width, 2, 3, 9, 10)
}

// atLeast marks a count as incomplete.
func atLeast(partial bool, count string) string {
	if partial {
		return count + "+"
	}
	return count
}

// stateSpans is stateText, in red if that is a failure.
func stateSpans(i record.Info) []termtext.Span {
	if i.Outcome().How.IsBad() {
		return termtext.Failure.Line(stateText(i))
	}
	return termtext.Plain.Line(stateText(i))
}

// stateText returns how a tape ended, and what is missing on it.
func stateText(i record.Info) string {
	s := []string{tapetext.State(i)}
	if i.Lost > 0 {
		s = append(s, termtext.ByteSize(i.Lost)+" not recorded")
	}
	return strings.Join(s, ", ")
}
