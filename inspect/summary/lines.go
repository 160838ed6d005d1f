package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// Lines returns the summary: how it came out and who took part; then, each after a label,
// what was asked and answered, what failed, what was slow, what was done, where the time
// went, which servers were called, and what it cost. What has nothing to say is left out. A
// line longer than width continues on the next, indented; with a width of 0 lines are not
// wrapped.
func (s Summary) Lines(width int) [][]termtext.Span {
	lines := wrap(s.tapeLine(), width, indent)
	lines = append(lines, s.dialog(width)...)
	return append(lines, s.labelled(width, true)...)
}

// Details returns the lines beside a list of tapes that shows how they came out, how long they
// took, their agents and titles: what Lines says besides, and at the end who took part.
func (s Summary) Details(width int) [][]termtext.Span {
	lines := append(s.dialog(width), s.labelled(width, true)...)
	if len(s.Tapes) == 0 {
		return lines
	}
	return append(lines, wrap(append(labelSpan("sides"), s.peers()...), width, labelIndent(width))...)
}

// Head returns the lines above a conversation on a screen that already shows the tape and
// what was said. The first one says how it came out, how long it took, what it cost, how
// much failed and what was asked; before the time stands session, which says which of several
// sessions it is. The others say, each after a label, what failed, was slow and was done,
// where the time went, and which tokens were used, if that was reported. Each is one line,
// cut to the width if that is not 0.
func (s Summary) Head(width int, session string) [][]termtext.Span {
	lines := append([][]termtext.Span{s.topLine(width, session)}, s.labelled(0, s.Usage.reported())...)
	for i := range lines {
		if width > 0 {
			lines[i] = termtext.CutSpans(lines[i], width)
		}
	}
	return lines
}

// topLine says the most important things in one line. A long outcome leaves room for the rest
// of them.
func (s *Summary) topLine(width int, session string) []termtext.Span {
	var l line
	outcome := tapetext.OutcomeSpan(s.Outcome())
	if width > 0 {
		outcome.Text = termtext.Cut(outcome.Text, max(width/3, 20))
	}
	l.add(outcome.Style, termtext.Spaced(outcome.Text, s.Where()))
	l.add(termtext.Plain, session)
	l.add(termtext.Plain, s.Length())
	s.addCosts(&l)
	s.addFailed(&l)
	asked := s.Title
	if len(s.Exchanges) > 0 {
		asked = cmp.Or(OneLine(s.Exchanges[0].Asked), asked)
	}
	l.add(termtext.Bold, termtext.Piece(asked))
	return l
}

// addFailed says how much failed.
func (s *Summary) addFailed(l *line) {
	if n := s.Failures.Count + s.Broken; n > 0 {
		l.add(termtext.Failure, termtext.Grouped(int64(n))+" failed")
	}
}

// labelled returns the lines after labels, but for what was said.
func (s *Summary) labelled(width int, cost bool) (lines [][]termtext.Span) {
	add := func(label string, text []termtext.Span) {
		if len(text) > 0 {
			lines = append(lines, wrap(append(labelSpan(label), text...), width, labelIndent(width))...)
		}
	}
	add("failed", s.failureLine())
	add("rejected", s.rejectedLine())
	add("slow", s.slowLine())
	add("rules", s.ruleLine())
	add("did", s.turnLine())
	add("time", s.timeLine())
	add("servers", s.serverLine())
	add("check", s.foundLine())
	if cost {
		add("cost", s.usageLine())
	}
	return lines
}

// LabelColumns is the width of the column of labels in Head and Lines.
const LabelColumns = 10

func labelSpan(label string) []termtext.Span {
	return termtext.Dim.Line(termtext.Pad(label, LabelColumns))
}

// labelIndent returns the indent of lines that continue one with a label. On a narrow
// screen there is no room for the column.
func labelIndent(width int) string {
	if width < 6*LabelColumns && width > 0 {
		return indent
	}
	return strings.Repeat(" ", LabelColumns)
}

// Limits on the lines of what was said.
const (
	askedLines  = 2
	answerLines = 3
)

// dialog returns the lines about what was said: of a single turn the prompt and the answer,
// of several a line each.
func (s *Summary) dialog(width int) (lines [][]termtext.Span) {
	if len(s.Exchanges) == 1 {
		one := s.Exchanges[0]
		return append(said("asked", one.Asked, askedLines, width), said(one.Label(), one.Answered, answerLines, width)...)
	}
	room := max(width-LabelColumns, 2*LabelColumns)
	for _, one := range s.Exchanges {
		line := append(labelSpan(fmt.Sprint("turn ", one.Turn)), tapetext.OutcomeStyle(one.Outcome.How).Span(one.Outcome.How.Sign()+" "))
		asked, answered := OneLine(one.Asked), OneLine(one.Answered)
		if width > 0 {
			asked = termtext.CutWords(asked, max(room*2/5, room-5-termtext.Width(answered)))
			answered = termtext.CutWords(answered, max(room-5-termtext.Width(asked), 1))
		}
		line = append(line, termtext.Plain.Span(asked))
		if answered != "" {
			line = append(line, termtext.Dim.Span(" → "), termtext.Plain.Span(answered))
		}
		if width > 0 {
			line = termtext.CutSpans(line, width)
		}
		lines = append(lines, line)
	}
	if more := s.MoreTurns(); more != "" {
		lines = append(lines, []termtext.Span{termtext.Plain.Span(labelIndent(width)), termtext.Dim.Span(more)})
	}
	return lines
}

// said returns at most n lines of what was said, after a label.
func said(label, text string, n, width int) (lines [][]termtext.Span) {
	margin := labelIndent(width)
	rows := termtext.FirstLines(text, n, max(width-len(margin), min(width, 1)))
	if len(rows) == 0 {
		return nil
	}
	if len(margin) < LabelColumns { // too narrow for a column of labels
		lines = append(lines, labelSpan(label))
	}
	for _, one := range rows {
		head := termtext.Plain.Line(margin)
		if len(lines) == 0 {
			head = labelSpan(label)
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
	s.addFailed(&l)
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

// Where returns the turn that the outcome is of, if that is not the last one, and whether the
// last one is done, such as "in turn 5, then done"; otherwise nothing.
func (s *Summary) Where() string {
	how := s.Outcome()
	for i, one := range s.Exchanges {
		if last := i == len(s.Exchanges)-1; one.Outcome == how && how.How > dialect.Done {
			if last {
				return ""
			}
			where := fmt.Sprint("in turn ", one.Turn)
			if s.Exchanges[len(s.Exchanges)-1].Outcome.How == dialect.Done {
				where += ", then done"
			}
			return where
		}
	}
	return ""
}

// MoreTurns says how many turns Exchanges leaves out. It is empty if there are none.
func (s *Summary) MoreTurns() string {
	more := s.Turns.Count - len(s.Exchanges)
	if more <= 0 || len(s.Exchanges) < 2 {
		return ""
	}
	return "and " + termtext.Counted(more, "more turn")
}

// tapeLine says how the tapes came out, how long they took, and who took part.
func (s *Summary) tapeLine() []termtext.Span {
	if len(s.Tapes) == 0 {
		return nil
	}
	var l line
	outcome := tapetext.OutcomeSpan(s.Outcome())
	l.add(outcome.Style, termtext.Spaced(outcome.Text, s.Where()))
	l.add(termtext.Plain, s.Length())
	if peers := s.peers(); len(peers) > 0 {
		l = append(append(l, dot), peers...)
	}
	return l
}

// peers says who took part, and when.
func (s *Summary) peers() []termtext.Span {
	c := s.connection()
	var l line
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

// turnLine says how many turns there are and how they ended, or, without turns, what was
// called.
func (s *Summary) turnLine() []termtext.Span {
	var l line
	if s.Turns.Count > 0 {
		ends := slices.Clone(s.Turns.Ends)
		if s.Turns.Running > 0 {
			ends = append(ends, Count{"running", s.Turns.Running, dialect.Running})
		}
		l = append(l, termtext.Plain.Span(termtext.Counted(s.Turns.Count, "turn")+": "))
		for i, text := range listed(ends) {
			if i > 0 {
				l = append(l, termtext.Plain.Span(", "))
			}
			style := termtext.Plain // only what went wrong is coloured
			if ends[i].how.IsBad() {
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
	} else if s.Title != "" && !s.asks(s.Title) {
		l.add(termtext.Plain, "session"+quoted(s.Title))
	}
	return l
}

// asks reports whether a title is the beginning of a prompt that is told.
func (s *Summary) asks(title string) bool {
	title = termtext.Unmarked(title)
	return slices.ContainsFunc(s.Exchanges, func(e Exchange) bool { return strings.HasPrefix(e.Asked, title) })
}

// addTools says which tools were called in turns: a few calls by their titles, changes by the
// files, more calls, and those that only look at something, by their number.
func (s *Summary) addTools(l *line) {
	calls, failed, open := 0, 0, 0
	var told []Count
	for _, one := range s.Tools {
		calls, failed, open = calls+one.Count, failed+one.Failed, open+one.Open
		if told = append(told, Count{What: one.What, Count: one.Count}); trace.OnlyLooks(one.What) {
			continue
		}
		last := &told[len(told)-1]
		switch {
		case one.files:
			if last.Count = 1; one.Count > len(one.Titles) {
				last.What += fmt.Sprintf(" ×%s:", termtext.Grouped(int64(one.Count)))
			}
			last.What += " " + strings.Join(one.Titles, ", ")
			if one.more {
				last.What += ", …"
			}
		case one.Count <= len(one.Titles):
			told = told[:len(told)-1]
			for i, title := range one.Titles {
				if i > 0 && title == one.Titles[i-1] {
					told[len(told)-1].Count++
				} else {
					told = append(told, Count{What: title, Count: 1})
				}
			}
		}
	}
	if calls == 0 {
		return
	}
	l.add(termtext.Plain, termtext.Counted(calls, "tool call")+": "+list(told))
	if n := s.Rejected.ToolCalls; n > 0 {
		*l = append(*l, termtext.Plain.Span(", "+termtext.Grouped(int64(n))+" rejected"))
	}
	if failed > 0 {
		*l = append(*l, termtext.Plain.Span(", "), termtext.Failure.Span(termtext.Grouped(int64(failed))+" failed"))
	}
	if open > 0 {
		*l = append(*l, termtext.Plain.Span(", "), termtext.Failure.Span(termtext.Grouped(int64(open))+" unfinished"))
	}
}

// addCalls says what was called.
func (s *Summary) addCalls(l *line) {
	var methods, tools []Count
	calls := 0
	for _, c := range s.Calls {
		methods, calls = append(methods, Count{What: c.Method, Count: c.Count}), calls+c.Count
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
