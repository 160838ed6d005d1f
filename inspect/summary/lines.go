package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// Lines returns the summary: how it came out and who took part; then, each after a label,
// what was asked and answered, what failed, what was slow, what was done, where the time
// went, which servers were called, and what it cost. What has nothing to say is left out. A
// line longer than width continues on the next, indented; with a width of 0 lines are not
// wrapped.
func (s Summary) Lines(width int) [][]termtext.Span {
	return spans(s.rows(s.usual(width)))
}

// Details returns the lines beside a list of tapes that shows how they came out, how long they
// took, their agents and titles: what Lines says besides, and at the end who took part.
func (s Summary) Details(width int) [][]termtext.Span {
	f := s.usual(width)
	lines := append(spans(s.dialog(f)), spans(s.labelled(f, true))...)
	if len(s.Tapes) == 0 {
		return lines
	}
	return append(lines, wrap(append(labelSpan("sides"), s.peers()...), width, labelIndent(width))...)
}

// Head returns the lines above a conversation on a screen that already shows the tape and
// what was said. The first one says how it came out, how long it took, what it cost, how much
// failed and, perhaps going on in the second one, what was asked; before the time stands session,
// which says which of several sessions it is. The others say, each after a label, what failed, was
// slow and was done, where the time went, and which tokens were used, if that was reported.
func (s Summary) Head(width int, session string) [][]termtext.Span {
	f := form{width: width, entry: headRows}
	top := f.cut(wrapWords(s.topLine(width, session), width, indent))
	return append(top, spans(s.labelled(f, s.Usage.reported()))...)
}

// headRows limits the rows of what is told in a Head.
const headRows = 2

// A Row is a line of a summary, and the frame that it is about.
type Row struct {
	Spans []termtext.Span
	Frame Frame // Seq is 0: none
}

func spans(rows []Row) (lines [][]termtext.Span) {
	for _, r := range rows {
		lines = append(lines, r.Spans)
	}
	return lines
}

// A form says how much of a summary is told.
type form struct {
	width int // 0: lines are not wrapped
	turn  int // rows for what was asked, and as many for what was answered, in one of several turns; 0: both share a row
	last  int // rows for what the last turn was answered; 0: as many as for others
	entry int // rows of an entry with a label; 0: any number

	wide  bool // also what was said before the answer, and a row for each failure
	whole bool // as many rows for each failure as it takes
	brief bool // without how long the first output took
	loose bool // with an empty row between what was said, what failed, and the rest
}

// usual returns the form of a summary on paper or a terminal that scrolls.
func (s *Summary) usual(width int) form {
	return form{width: width, turn: fewRows + 1, last: answerLines, wide: true, loose: true}
}

// Overview returns the lines of Lines for a screen, so that they fit as far as possible: with
// all turns, if all holds them and there is room, in fewer rows each if necessary. The last answer
// takes the rows that are left.
func (s Summary) Overview(width, height int, all []Exchange) []Row {
	var forms []form
	for _, loose := range [...]bool{true, false} {
		for _, turn := range [...]int{6 * fewRows, 4 * fewRows, 3 * fewRows, 2 * fewRows, fewRows + 1, fewRows} {
			forms = append(forms, form{turn: turn, last: answerLines, wide: true, whole: turn >= 4*fewRows, loose: loose, brief: true})
		}
	}
	forms = append(forms, form{turn: fewRows, last: answerLines}, form{turn: 1, last: answerLines}, form{turn: 1, last: 3}, form{last: 3}, form{}, form{entry: 3}, form{entry: 2})
	told := s.Exchanges
	for _, s.Exchanges = range [][]Exchange{all, told} {
		for _, f := range forms {
			f.width = width
			rows := s.rows(f)
			if len(rows) > height || len(s.Exchanges) < len(told) {
				continue
			}
			for len(rows) < height && f.last > 0 && f.last < mostRows {
				f.last++
				if more := s.rows(f); len(more) <= height {
					rows = more
				}
			}
			return rows
		}
	}
	return s.rows(form{width: width, entry: 1})
}

// rows returns all rows of a summary.
func (s *Summary) rows(f form) (rows []Row) {
	for _, line := range wrap(s.tapeLine(), f.width, indent) {
		rows = append(rows, Row{Spans: line})
	}
	if left := s.leftLine(); left != nil && f.entry == 0 {
		for _, line := range wrapWords(append(labelSpan("left"), left...), f.width, labelIndent(f.width)) {
			rows = append(rows, Row{Spans: line})
		}
	}
	rows = append(rows, f.space()...)
	if said := s.dialog(f); len(said) > 0 {
		rows = append(append(rows, said...), f.space()...)
	}
	return append(rows, s.labelled(f, true)...)
}

// space returns the empty row between groups of others.
func (f form) space() []Row {
	if !f.loose {
		return nil
	}
	return []Row{{Spans: []termtext.Span{}}} // nil would be drawn later on a page
}

// cut returns as many lines as an entry may have.
func (f form) cut(lines [][]termtext.Span) [][]termtext.Span {
	if f.entry == 0 || len(lines) <= f.entry {
		return lines
	}
	last := append(slices.Clone(lines[f.entry-1]), termtext.Plain.Span(" …"))
	if termtext.SpansWidth(last) > f.width {
		last = termtext.CutSpans(append(lines[f.entry-1], lines[f.entry]...), f.width)
	}
	return append(lines[:f.entry-1:f.entry-1], last)
}

// topLine says the most important things in one line. A long outcome leaves room for the rest
// of them.
func (s *Summary) topLine(width int, session string) []termtext.Span {
	if width > 0 {
		width = max(width/3, 20)
	}
	l := s.verdict(width)
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
func (s *Summary) labelled(f form, cost bool) (rows []Row) {
	add := func(label string, text []termtext.Span, at Frame) {
		if len(text) == 0 {
			return
		}
		for _, line := range f.cut(wrap(append(labelSpan(label), text...), f.width, labelIndent(f.width))) {
			rows = append(rows, Row{line, at})
		}
	}
	if rows = s.failedRows(f); len(rows) > 1 {
		rows = append(rows, f.space()...)
	}
	first := func(list []Remark) (at Frame) {
		if len(list) > 0 {
			at = list[0].Frame
		}
		return at
	}
	add("rejected", s.rejectedLine(), first(s.RejectedTexts()))
	add("stopped", s.stoppedLine(), first(s.StoppedTexts()))
	add("slow", s.slowLine(), first(s.SlowTexts()))
	add("rules", s.ruleLine(), Frame{})
	if len(s.Called) == 0 {
		add("did", s.turnLine(f.entry == 0), Frame{})
		if f.entry == 0 {
			var ran line
			ran.add(termtext.Plain, s.RanText())
			add("ran", ran, Frame{})
		}
		rows = append(rows, s.changeRows(f)...)
	}
	if n := len(rows); n > 0 && len(rows[n-1].Spans) > 0 {
		rows = append(rows, f.space()...)
	}
	if bar := s.timeBar(f); bar != nil {
		add("time", bar, Frame{})
		rows = append(rows, s.under(f, s.timeLine(true, f))...)
	} else {
		add("time", s.timeLine(false, f), Frame{})
	}
	rows = append(rows, s.slowestRows(f)...)
	add("servers", s.serverLine(), Frame{})
	add("check", s.foundLine(), Frame{})
	if cost {
		add("cost", s.usageLine(), Frame{})
	}
	return rows
}

// under returns rows below one with a label.
func (s *Summary) under(f form, text []termtext.Span) (rows []Row) {
	margin := labelIndent(f.width)
	for _, line := range f.cut(wrap(append(termtext.Plain.Line(margin), text...), f.width, margin)) {
		rows = append(rows, Row{Spans: line})
	}
	return rows
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

// MoreTurns says how many turns Exchanges leaves out. It is empty if there are none.
func (s *Summary) MoreTurns() string {
	more := s.Turns.Count - len(s.Exchanges)
	if more <= 0 || len(s.Exchanges) < 2 {
		return ""
	}
	return "and " + termtext.Counted(more, "more turn")
}

// turnLine says how many turns there are and how they ended, unless each is told, or, without turns, what was
// called.
func (s *Summary) turnLine(told bool) []termtext.Span {
	var l line
	if s.Turns.Count > 0 {
		if !told || s.Turns.Count > len(s.Exchanges) {
			l = append(l, s.turnEnds()...)
		}
	} else {
		s.addCalls(&l)
		l.add(termtext.Plain, s.CommonText())
	}
	s.addTools(&l)
	if s.Sessions > 1 {
		l.add(termtext.Plain, termtext.Counted(s.Sessions, "session"))
	} else if s.Title != "" && !s.asks(s.Title) {
		l.add(termtext.Plain, "session"+quoted(s.Title))
	}
	return l
}

// turnEnds says how many turns there are, and how they ended.
func (s *Summary) turnEnds() (l line) {
	ends := slices.Clone(s.Turns.Ends)
	if s.Turns.Running > 0 {
		ends = append(ends, Count{What: "running", Count: s.Turns.Running, how: dialect.Running})
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
	return l
}

// asks reports whether a title is the beginning of a prompt that is told.
func (s *Summary) asks(title string) bool {
	title = termtext.Unmarked(title)
	return slices.ContainsFunc(s.Exchanges, func(e Exchange) bool { return strings.HasPrefix(e.Asked, title) })
}
