package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// An Exchange is a turn: what was asked, how it ended, and what was answered.
type Exchange struct {
	Session  int             `json:"session,omitempty"` // number of its session, of several with turns
	Turn     int             `json:"turn"`              // its number in its session
	Outcome  dialect.Outcome `json:"-"`
	Ending   string          `json:"outcome"` // in words
	Asked    string          `json:"asked"`
	Answered string          `json:"answered,omitempty"`
}

// Label returns the word before what the agent said: answered only if the turn is done.
func (e *Exchange) Label() string {
	if e.Outcome.How == dialect.Done {
		return "answered"
	}
	return "said"
}

// A Part is one of several sessions with turns.
type Part struct {
	Session int    `json:"session"` // its number, as in exchanges
	Title   string `json:"title,omitempty"`
	Turns   int    `json:"turns"`
	Cost    string `json:"cost,omitempty"` // with the currency
}

// Text says what is known of a session, without its title if a prompt that is told begins so.
func (p *Part) Text(s *Summary) string {
	title := ""
	if !s.asks(p.Title) {
		title = strings.TrimSpace(quoted(p.Title))
	}
	return "· " + termtext.Dotted(title, termtext.Counted(p.Turns, "turn"), p.Cost)
}

// Limits on the turns that are told of a session, and on the sessions.
const (
	maxBad   = 2          // because they did not end well, each with the turn after it
	most     = 2 + maxBad // together with the first and the last
	maxParts = 4          // the first ones and the last one
)

// A dialog keeps the first and the last turn of a session, and those between that ended worst.
type dialog struct {
	session *trace.Session
	number  int           // of the session, in the order of their first turns
	first   []*trace.Turn // at most most
	last    *trace.Turn
	bad     []badTurn // at most maxBad, the worst first
	count   int
}

// A badTurn is a turn that did not end well, and the one that follows it.
type badTurn struct{ turn, next *trace.Turn }

// begin notes that a turn begins.
func (d *dialog) begin(t *trace.Turn) {
	if len(d.first) < most {
		d.first = append(d.first, t)
	}
	for i := range d.bad {
		if d.bad[i].turn == d.last && d.bad[i].next == nil {
			d.bad[i].next = t
		}
	}
	d.last = t
	d.count++
}

// end notes that a turn has ended.
func (d *dialog) end(t *trace.Turn) {
	if t.Outcome.How <= dialect.Done || slices.ContainsFunc(d.bad, func(b badTurn) bool { return b.turn == t }) {
		return
	}
	d.bad = append(d.bad, badTurn{t, nil})
	slices.SortStableFunc(d.bad, func(a, b badTurn) int { return cmp.Compare(b.turn.Outcome.How, a.turn.Outcome.How) })
	d.bad = d.bad[:min(len(d.bad), maxBad)]
}

// exchanges returns the turns that are told, in order.
func (d *dialog) exchanges() (list []Exchange) {
	turns := slices.Clone(d.first)
	if d.count > most {
		turns = append(turns[:1], d.last)
		for _, b := range d.bad {
			if turns = append(turns, b.turn); b.next != nil {
				turns = append(turns, b.next)
			}
		}
	}
	slices.SortFunc(turns, func(a, b *trace.Turn) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Prompt, b.Prompt), cmp.Compare(a.Number, b.Number))
	})
	for _, t := range slices.Compact(turns) {
		list = append(list, Exchange{0, t.Number, t.Outcome, t.Outcome.String(), termtext.Unmarked(t.Asked), termtext.Unmarked(t.Answer())})
	}
	return list
}

// The dialogs are those of the first sessions with turns and of the last one. The zero value is
// ready to use.
type dialogs struct {
	list  []*dialog // at most maxParts
	count int       // of sessions with turns, as far as they can be told apart
}

// of returns the dialog of a session; nil: it is not kept.
func (d *dialogs) of(session *trace.Session) *dialog {
	i := slices.IndexFunc(d.list, func(one *dialog) bool { return one.session == session })
	if i < 0 {
		return nil
	}
	return d.list[i]
}

// begin notes that a turn begins.
func (d *dialogs) begin(session *trace.Session, t *trace.Turn) {
	one := d.of(session)
	if one == nil {
		if d.count++; len(d.list) == maxParts {
			d.list = d.list[:maxParts-1]
		}
		one = &dialog{session: session, number: d.count}
		d.list = append(d.list, one)
	}
	one.begin(t)
}

// end notes that a turn has ended.
func (d *dialogs) end(session *trace.Session, t *trace.Turn) {
	if one := d.of(session); one != nil {
		one.end(t)
	}
}

// told returns the turns that are told, and the sessions if there are several.
func (d *dialogs) told() (turns []Exchange, parts []Part) {
	for _, one := range d.list {
		list := one.exchanges()
		if len(d.list) > 1 {
			for i := range list {
				list[i].Session = one.number
			}
			parts = append(parts, one.part())
		}
		turns = append(turns, list...)
	}
	return turns, parts
}

// part returns what is known of the session.
func (d *dialog) part() Part {
	p := Part{Session: d.number, Turns: d.count}
	if d.session == nil {
		return p
	}
	p.Title = d.session.Title
	if u := d.session.Conversation.State.Usage; u != nil && u.Reported.Currency != "" {
		p.Cost = tapetext.CostText([]dialect.Cost{u.Reported})
	}
	return p
}

// Limits on the lines of what was said.
const (
	askedLines  = 4 // of a single turn
	answerLines = 5
	turnLines   = 3 // of what was asked or answered in one of a few turns
	fewTurns    = 3
)

// dialog returns the lines about what was said: of a single turn the prompt and the answer,
// of several a few lines each; and without turns the lines about the calls of tools.
func (s *Summary) dialog(width int) (lines [][]termtext.Span) {
	switch {
	case len(s.Called) > 0:
		return s.calledLines(width)
	case len(s.Exchanges) == 1:
		one := s.Exchanges[0]
		return append(said("asked", one.Asked, askedLines, width), said(one.Label(), one.Answered, answerLines, width)...)
	}
	session, before := 0, ""
	for i := range s.Exchanges {
		one := &s.Exchanges[i]
		if one.Session != session {
			session, before = one.Session, ""
			lines = append(lines, s.partLines(session, width)...)
		}
		lines = append(lines, s.turnLines(one, before, width)...)
		before = OneLine(one.Asked)
	}
	if more := s.MoreTurns(); more != "" {
		lines = append(lines, []termtext.Span{termtext.Plain.Span(labelIndent(width)), termtext.Dim.Span(more)})
	}
	return lines
}

// partLines returns the lines above the turns of a session, of several.
func (s *Summary) partLines(session, width int) (lines [][]termtext.Span) {
	for i := range s.Parts {
		if p := &s.Parts[i]; p.Session == session {
			text := append(labelSpan(fmt.Sprint("session ", session)), termtext.Bold.Span(p.Text(s)))
			lines = append(lines, wrap(text, width, labelIndent(width))...)
		}
	}
	return lines
}

// turnLines returns the lines of one of several turns, of which the one before asked something.
func (s *Summary) turnLines(one *Exchange, before string, width int) (lines [][]termtext.Span) {
	label := fmt.Sprint("turn ", one.Turn)
	if one.Session > 0 {
		label = "  " + label
	}
	margin := labelIndent(width)
	head := append(labelSpan(label), tapetext.OutcomeStyle(one.Outcome.How).Span(one.Outcome.How.Sign()+" "))
	n := 2
	if len(s.Exchanges) <= fewTurns {
		n = turnLines
	}
	asked, style := OneLine(one.Asked), termtext.Plain
	if asked == before && asked != "" {
		asked, style = "the same again", termtext.Dim
	}
	answered := OneLine(one.Answered)
	arrow := termtext.Dim.Span(" → ")
	room := max(width-LabelColumns-2, 2)
	if width <= 0 || termtext.Width(asked)+termtext.Width(answered)+3 <= room {
		line := append(head, style.Span(asked))
		if answered != "" {
			line = append(line, arrow, termtext.Plain.Span(answered))
		}
		return append(lines, line)
	}
	add := func(head termtext.Span, text string, style termtext.Style) {
		for i, row := range termtext.FirstLines(text, n, room) {
			if i > 0 {
				head = termtext.Plain.Span(margin)
			}
			lines = append(lines, []termtext.Span{head, style.Span(row)})
		}
	}
	add(termtext.Span{}, asked, style)
	if lines == nil {
		lines = [][]termtext.Span{{{}}}
	}
	lines[0] = append(head, lines[0][1:]...)
	add(termtext.Plain.Span(margin+"→ "), answered, termtext.Plain)
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

// Where returns the turn that the outcome is of, if that is not the last one of its session, and
// whether the last one is done, such as "in turn 5, then done"; otherwise nothing.
func (s *Summary) Where() string {
	how := s.Outcome()
	i := slices.IndexFunc(s.Exchanges, func(e Exchange) bool { return e.Outcome == how && how.How > dialect.Done })
	if i < 0 {
		return ""
	}
	one := s.Exchanges[i]
	last := one
	for _, e := range s.Exchanges {
		if e.Session == one.Session {
			last = e
		}
	}
	where := fmt.Sprint("in turn ", one.Turn)
	if one.Session > 0 {
		where += fmt.Sprint(" of session ", one.Session)
	}
	switch {
	case last.Turn == one.Turn && one.Session == 0:
		return ""
	case last.Outcome.How == dialect.Done:
		where += ", then done"
	}
	return where
}
