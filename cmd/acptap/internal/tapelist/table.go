package tapelist

import (
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// A line is what a list shows about a tape or a session.
type line struct {
	sign, name, title, agent []termtext.Span
	took                     time.Duration // 0: unknown
	turns                    uint64
	failed                   uint64
	partial                  bool // the numbers may be too low
	costs                    []dialect.Cost
	last                     time.Time // the time from which its age counts
}

// writeLines writes a list: what distinguishes its lines, in as many columns as the
// terminal has. what is the heading of their names.
func writeLines(c cli.Canvas, what string, lines []line, now time.Time) error {
	const title, took, cost = 1, 3, 6
	t := &cli.Table{Color: c.Color, Right: []int{took, 4, 5, cost, 7}, Least: []int{cost, took}}
	t.Heading(strings.Repeat(" ", signColumns)+what, "TITLE", "AGENT", "TOOK", "TURNS", "FAILED", "COST", "AGE")
	text := termtext.Plain.Line
	for _, l := range lines {
		turns := termtext.NonZero(int64(l.turns))
		if l.partial {
			turns = atLeast(true, fmt.Sprint(l.turns))
		}
		t.Spans(append(l.sign, l.name...), l.title, l.agent, text(tapetext.TookText(l.took)), text(turns), Failures(l.failed, l.partial),
			text(tapetext.CostText(l.costs)), termtext.Dim.Line(tapetext.Age(now.Sub(l.last))))
	}
	return t.Write(c.W, c.Width, title) // an agent's name is already cut, before its version
}

// Write writes what distinguishes tapes, for a terminal of 80 columns or more.
func Write(c cli.Canvas, rows []Row, now time.Time) error {
	lines := make([]line, len(rows))
	for n, r := range rows {
		lines[n] = line{
			sign: signSpans(r), name: nameSpans(r, r.Short), title: titleSpans(r), agent: tapetext.Agent(r.Info, agentColumns(c)),
			took: r.Took(), turns: r.Turns, failed: r.Failures, partial: r.Partial, costs: r.Costs, last: r.Start.Time,
		}
	}
	return writeLines(c, "TAPE", lines, now)
}

// agentColumns returns how many columns an agent's name may take: where all tapes have the
// same agent, titles say more.
func agentColumns(c cli.Canvas) int {
	switch {
	case c.Width == 0:
		return 60
	case c.Width < 100:
		return 16 // for a name and a version, such as Claude … 0.100.0
	}
	return c.Width / 4
}

// signColumns is the width of the widest sign of an outcome, and a blank.
const signColumns = 3

// signSpans returns the sign of a tape's outcome, or a question mark if that is not known.
func signSpans(r Row) []termtext.Span {
	i := r.Info
	if r.Folded > 0 {
		return termtext.Plain.Line(termtext.Pad("", signColumns))
	}
	if i.Partial && !i.Live {
		return termtext.Dim.Line(termtext.Pad("?", signColumns))
	}
	return outcomeSign(i.Outcome())
}

func outcomeSign(o dialect.Outcome) []termtext.Span {
	return tapetext.OutcomeStyle(o.How).Line(termtext.Pad(o.How.Sign(), signColumns))
}

// nameSpans returns the name of a tape, indented if it is nested.
func nameSpans(r Row, name string) []termtext.Span {
	style := termtext.Plain
	if r.Live {
		style = termtext.Bold
	}
	if r.Level == 0 {
		return style.Line(name)
	}
	return []termtext.Span{termtext.Dim.Span(strings.Repeat("  ", r.Level-1) + "└ "), style.Span(name)}
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
	return termtext.Failure.Line(atLeast(partial, termtext.Grouped(int64(n))))
}

// WriteWide writes all columns. STATE includes what is missing on a tape.
func WriteWide(c cli.Canvas, rows []Row) error {
	t := &cli.Table{Color: c.Color}
	t.Heading(strings.Repeat(" ", signColumns)+"TAPE", "STARTED", "STATE", "AGENT", "TITLE", "TOOK", "TURNS", "FAILED", "COST", "FRAMES", "SIZE", "SESSIONS", "CLIENT")
	text := termtext.Plain.Line
	for _, r := range rows {
		number := func(n uint64) []termtext.Span { return text(atLeast(r.Partial, fmt.Sprint(n))) }
		conn := r.Connection
		t.Spans(append(signSpans(r), nameSpans(r, r.Tape)...), text(tapetext.Time(r.Start.Time)), stateSpans(r), tapetext.Agent(r.Info, 60), writtenSpans(r),
			text(tapetext.TookText(r.Took())), number(r.Turns), Failures(r.Failures, r.Partial), text(tapetext.CostText(r.Costs)), number(r.Frames), text(atLeast(r.Partial, termtext.ByteSize(r.Bytes))),
			number(r.Sessions), text(tapetext.Peer(conn.ClientTitle, conn.Client, conn.ClientVersion, 60)))
	}
	return t.Write(c.W, c.Width, 3, 4, 12)
}

// atLeast marks a count as incomplete.
func atLeast(partial bool, count string) string {
	if partial {
		return count + "+"
	}
	return count
}

// stateSpans returns how a tape ended, and what is missing on it, in red if that is a
// failure.
func stateSpans(r Row) []termtext.Span {
	i := r.Info
	if r.Folded > 0 {
		return nil
	}
	state, style := tapetext.State(i), termtext.Plain
	if i.Outcome().How.IsBad() {
		style = termtext.Failure
	}
	if i.Lost > 0 {
		state += ", " + termtext.ByteSize(i.Lost) + " not recorded"
	}
	return style.Line(state)
}
