package summary

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// Lines returns the summary: how it came out and who took part; then, each after a label,
// what was asked and answered, what failed, what was slow, what was done, where the time
// went, which servers were called, and what it cost. What has nothing to say is left out. A
// line longer than width continues on the next, indented; with a width of 0 lines are not
// wrapped.
func (s Summary) Lines(width int) [][]termtext.Span {
	lines := wrap(s.tapeLine(), width, indent)
	first := ""
	if n := s.Turns.Count; n > 1 {
		first = fmt.Sprintf("1 of %s: ", termtext.Grouped(int64(n)))
	}
	lines = append(lines, said("asked", first, s.Asked, askedLines, width)...)
	lines = append(lines, said("answered", "", s.Answered, answerLines, width)...)
	return append(lines, s.labelled(width, true)...)
}

// Head returns the lines above a conversation on a screen that already shows the tape, the
// title and what was said: what failed, was slow and was done, where the time went, and what
// it cost, if that was reported.
func (s Summary) Head(width int) [][]termtext.Span {
	s.Title = ""
	return s.labelled(width, s.Usage.reported())
}

// labelled returns the lines after labels, but for what was said.
func (s *Summary) labelled(width int, cost bool) (lines [][]termtext.Span) {
	add := func(label string, text []termtext.Span) {
		if len(text) > 0 {
			lines = append(lines, wrap(append(labelSpan(label), text...), width, labelIndent(width))...)
		}
	}
	add("failed", s.failureLine())
	add("slow", s.slowLine())
	add("did", s.turnLine())
	add("time", s.timeLine())
	add("servers", s.serverLine())
	if cost {
		add("cost", s.usageLine())
	}
	return lines
}

// labelColumns is the width of the column of labels.
const labelColumns = 10

func labelSpan(label string) []termtext.Span {
	return termtext.Dim.Line(termtext.Pad(label, labelColumns))
}

// labelIndent returns the indent of lines that continue one with a label. On a narrow
// screen there is no room for the column.
func labelIndent(width int) string {
	if width < 6*labelColumns && width > 0 {
		return indent
	}
	return strings.Repeat(" ", labelColumns)
}

// Limits on the lines of what was said.
const (
	askedLines  = 2
	answerLines = 3
)

// said returns at most n lines of what was said, after a label and a remark.
func said(label, remark, text string, n, width int) (lines [][]termtext.Span) {
	margin := labelIndent(width)
	room := 0
	if width > 0 {
		room = max(width-len(margin)-termtext.Width(remark), 1)
	}
	rows := termtext.FirstLines(text, n, room)
	if len(rows) == 0 {
		return nil
	}
	if len(margin) < labelColumns { // too narrow for a column of labels
		lines = append(lines, labelSpan(label))
	}
	for i, one := range rows {
		head := termtext.Plain.Line(margin)
		if len(lines) == 0 {
			head = labelSpan(label)
		}
		if i == 0 && remark != "" {
			head = append(head, termtext.Dim.Span(remark))
		} else {
			head = append(head, termtext.Plain.Span(strings.Repeat(" ", termtext.Width(remark))))
		}
		lines = append(lines, append(head, termtext.Plain.Span(one)))
	}
	return lines
}

// Line returns the summary in one line, for a list of tapes: the newest tape, how it ended,
// the title, the agent, the turns, the time they took, the cost, and how much failed. It is
// wrapped as Lines are.
func (s Summary) Line(width int) [][]termtext.Span {
	if len(s.Tapes) == 0 {
		return nil
	}
	newest := s.Tapes[len(s.Tapes)-1]
	var l line
	outcome := tapetext.OutcomeSpan(s.Outcome())
	l.add(termtext.Bold, tapetext.ShortID(newest.Tape))
	l.add(outcome.Style, outcome.Text)
	if s.Sessions > 1 {
		l.add(termtext.Plain, termtext.Counted(s.Sessions, "session"))
	} else {
		l.add(termtext.Plain, termtext.Cut(termtext.Piece(s.Title), titleColumns))
	}
	l.add(termtext.Plain, agentName(newest))
	if s.Turns.Count > 0 {
		l.add(termtext.Plain, termtext.Counted(s.Turns.Count, "turn"))
	}
	l.add(termtext.Plain, s.Length())
	s.addCosts(&l)
	if n := s.Failures.Count + s.Broken; n > 0 {
		l.add(termtext.Red, fmt.Sprint(n, " failed"))
	}
	return wrap(l, width, indent)
}

// connection returns what both sides said about themselves on the newest tape.
func (s *Summary) connection() dialect.Connection { return s.Tapes[len(s.Tapes)-1].Connection }

// Outcome returns the outcome of the tapes.
func (s *Summary) Outcome() (o dialect.Outcome) {
	for _, i := range s.Tapes {
		o = o.Or(i.Outcome())
	}
	return o
}

// tapeLine says how the tapes came out, how long they took, and who took part.
func (s *Summary) tapeLine() []termtext.Span {
	if len(s.Tapes) == 0 {
		return nil
	}
	c := s.connection()
	var l line
	outcome := tapetext.OutcomeSpan(s.Outcome())
	l.add(outcome.Style, outcome.Text)
	l.add(termtext.Plain, s.Length())
	l.add(termtext.Bold, agentName(s.Tapes[len(s.Tapes)-1]))
	l.add(termtext.Plain, tapetext.Peer(c.ClientTitle, c.Client, c.ClientVersion, titleColumns))
	l.add(termtext.Plain, termtext.Piece(c.Spoken()))
	if n := len(s.Tapes); n > 1 {
		l.add(termtext.Plain, fmt.Sprintf("%d tapes", n))
	}
	if t := s.Tapes[0].Start.Time; !t.IsZero() {
		l.add(termtext.Plain, tapetext.Time(t))
	}
	return l
}

// Length formats how long the tapes took, up to the agent's exit if it was recorded. It
// is empty if unknown.
func (s *Summary) Length() string {
	if s.Untimed || s.Frames == 0 {
		return ""
	}
	return termtext.Duration(time.Duration(s.Took))
}

func agentName(i record.Info) string {
	if c := i.Connection; c.Agent != "" { // as it calls itself
		return tapetext.Peer(c.AgentTitle, c.Agent, c.AgentVersion, titleColumns)
	}
	return termtext.Cut(termtext.Piece(tapetext.AgentName(i)), titleColumns)
}

// isBad reports whether turns with this outcome went wrong.
func isBad(outcome string) bool {
	for how := dialect.Done; how <= dialect.Running; how++ {
		if how.String() == outcome {
			return how.IsBad()
		}
	}
	return false
}

// turnLine says how many turns there are and how they ended, or, without turns, what was
// called.
func (s *Summary) turnLine() []termtext.Span {
	var l line
	if s.Turns.Count > 0 {
		ends := slices.Clone(s.Turns.Ends)
		if s.Turns.Running > 0 {
			ends = append(ends, Count{"running", s.Turns.Running})
		}
		l = append(l, termtext.Plain.Span(termtext.Counted(s.Turns.Count, "turn")+": "))
		for i, text := range listed(ends) {
			if i > 0 {
				l = append(l, termtext.Plain.Span(", "))
			}
			style := termtext.Plain // only what went wrong is coloured
			if isBad(ends[i].What) {
				style = termtext.Red
			}
			l = append(l, style.Span(text))
		}
	} else {
		s.addCalls(&l)
	}
	s.addTools(&l)
	if s.Sessions > 1 {
		l.add(termtext.Plain, termtext.Counted(s.Sessions, "session"))
	} else if s.Title != "" && !strings.HasPrefix(s.Asked, s.Title) {
		l.add(termtext.Plain, "session"+quoted(s.Title))
	}
	return l
}

// addTools says which tools were called in turns.
func (s *Summary) addTools(l *line) {
	var counts []Count
	calls, failed := 0, 0
	for _, one := range s.Tools {
		counts = append(counts, Count{one.What, one.Count})
		calls, failed = calls+one.Count, failed+one.Failed
	}
	if calls == 0 {
		return
	}
	l.add(termtext.Plain, termtext.Counted(calls, "tool call")+": "+list(counts))
	if failed > 0 {
		*l = append(*l, termtext.Plain.Span(", "), termtext.Failure.Span(termtext.Grouped(int64(failed))+" failed"))
	}
}

// addCalls says what was called.
func (s *Summary) addCalls(l *line) {
	var methods, tools []Count
	calls := 0
	for _, c := range s.Calls {
		methods, calls = append(methods, Count{c.Method, c.Count}), calls+c.Count
		tools = append(tools, c.Tools...)
	}
	switch {
	case calls > 0:
		l.add(termtext.Plain, termtext.Counted(calls, "call")+": "+list(methods))
		l.add(termtext.Plain, termtext.Labelled("tools:", list(tools)))
	case s.Frames == 0:
		l.add(termtext.Plain, "no frames")
	default:
		l.add(termtext.Plain, "no turns and no calls")
	}
}
