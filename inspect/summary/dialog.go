package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
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
	Did      string          `json:"did,omitempty"` // of a turn that did not come to its end: how many tools it called, the last three, and what the last one printed
	Frame    Frame           `json:"frame"`         // of the prompt

	last *trace.ToolCall // that began in a turn that did not come to its end; nil: none
}

// Label returns the word before what came of the turn: answered only if it is done.
func (e *Exchange) Label() string {
	switch {
	case e.Outcome.How == dialect.Done:
		return "answered"
	case e.Did != "":
		return "came to"
	}
	return "said"
}

// Came returns in one line what came of the turn: what was answered or, if it did not come to its
// end, what it did and the last words of the agent.
func (e *Exchange) Came() string {
	answered := OneLine(e.Answered)
	if e.Did == "" || answered == "" {
		return cmp.Or(e.Did, answered)
	}
	return e.Did + " · last words: " + answered
}

// A Part is one of several sessions with turns.
type Part struct {
	Session int    `json:"session"` // its number, as in exchanges
	Title   string `json:"title,omitempty"`
	Turns   int    `json:"turns"`
	Cost    string `json:"cost,omitempty"` // with the currency
}

// Limits on the turns that are told of a session, and on the sessions.
const (
	maxBad   = 4          // because they did not end well, each with the turn after it
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
		list = append(list, exchangeOf(t))
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

// begin notes that a turn begins, and returns the number of its session.
func (d *dialogs) begin(session *trace.Session, t *trace.Turn) int {
	one := d.of(session)
	if one == nil {
		if d.count++; len(d.list) == maxParts {
			d.list = d.list[:maxParts-1]
		}
		one = &dialog{session: session, number: d.count}
		d.list = append(d.list, one)
	}
	one.begin(t)
	return one.number
}

// end notes that a turn has ended, and returns the number of its session if that is kept.
func (d *dialogs) end(session *trace.Session, t *trace.Turn) int {
	one := d.of(session)
	if one == nil {
		return 0
	}
	one.end(t)
	return one.number
}

// unfinished returns the title of the tool call that ran last, if it has not ended; otherwise nothing.
func (d *dialogs) unfinished() string {
	if len(d.list) == 0 {
		return ""
	}
	turn := d.list[len(d.list)-1].last
	if turn == nil || len(turn.LastCalls) == 0 {
		return ""
	}
	last := turn.LastCalls[len(turn.LastCalls)-1]
	if last.Finished() || undone(last) {
		return ""
	}
	return callTitle(last, "")
}

// told returns the turns that are told, and the sessions if there are several. printed returns what a
// tool call has printed last.
func (d *dialogs) told(printed func(session, call string) string) (turns []Exchange, parts []Part) {
	for _, one := range d.list {
		list := one.exchanges()
		for i := range list {
			if c := list[i].last; c != nil && one.session != nil {
				list[i].Did += termtext.Labelled(", which printed last:", printed(one.session.ID, c.ID))
			}
			if len(d.list) > 1 {
				list[i].Session = one.number
			}
		}
		if len(d.list) > 1 {
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
	answerLines = 6 // of the last turn
	fewRows     = 2 // of what was asked or answered in one of several
	mostRows    = 40
)

// arrow stands between what was asked and answered.
var arrow = termtext.Dim.Span(" → ")

// dialog returns the lines about what was said: of a single turn the prompt and the answer,
// of several a few lines each; and without turns the lines about the calls of tools.
func (s *Summary) dialog(f form) (rows []Row) {
	switch unprompted := s.Unprompted(); {
	case unprompted != "":
		return append(said("asked", unprompted, termtext.Plain, askedLines, f.width, Frame{}), s.calledRows(f)...)
	case len(s.Exchanges) == 1:
		one := &s.Exchanges[0]
		less := max(0, fewRows-f.turn)
		rows = said("asked", one.Asked, termtext.Bold, askedLines-less, f.width, one.Frame)
		answered := one.Answered
		if one.Did != "" {
			answered = one.Came()
		}
		return append(rows, said(one.Label(), answered, termtext.Plain, max(f.last, 2), f.width, one.Frame)...)
	}
	session, before := 0, ""
	for i := range s.Exchanges {
		one := &s.Exchanges[i]
		if one.Session != session {
			session, before = one.Session, ""
			rows = append(rows, s.partRows(session, f.width)...)
		}
		form := f
		if i+1 < len(s.Exchanges) && s.Exchanges[i+1].Session == session {
			form.last = 0
		}
		rows = append(rows, turnRows(one, before, form)...)
		before = OneLine(one.Asked)
	}
	if more := s.MoreTurns(); more != "" {
		rows = append(rows, Row{Spans: []termtext.Span{termtext.Plain.Span(labelIndent(f.width)), termtext.Dim.Span(more)}})
	}
	return rows
}

// partRows returns the lines above the turns of a session, of several.
func (s *Summary) partRows(session, width int) (rows []Row) {
	text := labelSpan(fmt.Sprint("session ", session))
	if known := s.PartText(session); known != "" {
		text = append(text, termtext.Bold.Span("· "+known))
	}
	for _, line := range wrap(text, width, labelIndent(width)) {
		rows = append(rows, Row{Spans: line})
	}
	return rows
}

// PartText says what is known of a session, of several: its title, unless a prompt that is told
// begins so, how many turns it has, and what they cost.
func (s *Summary) PartText(session int) string {
	i := slices.IndexFunc(s.Parts, func(p Part) bool { return p.Session == session })
	if i < 0 {
		return ""
	}
	p, title := s.Parts[i], ""
	if !s.asks(p.Title) {
		title = strings.TrimSpace(quoted(p.Title))
	}
	return termtext.Dotted(title, termtext.Counted(p.Turns, "turn"), p.Cost)
}

// Closing returns what was said in so many rows: if it takes more of them, the first and the last
// sentence.
func Closing(text string, rows, columns int) []string {
	lines := termtext.FirstLines(text, rows, columns)
	if rows < 3 || len(termtext.FirstLines(text, rows+1, columns)) <= rows {
		return lines
	}
	text = strings.TrimSpace(text)
	end := text
	for _, at := range sentenceEnd().FindAllStringIndex(text, -1) {
		if at[1] < len(text) {
			end = text[at[1]:]
		}
	}
	closing := termtext.FirstLines(end, rows, columns)
	if len(closing) > rows-2 || strings.HasSuffix(text, "…") {
		return lines
	}
	return append(termtext.FirstLines(text, rows-len(closing), columns), closing...)
}

// sentenceEnd matches what stands between two sentences.
var sentenceEnd = lazyregexp.New(`[.!?][)"'»”]?(?:\s+|$)|[。！？]|\n| · `)

// turnRows returns the lines of one of several turns. before is what the one before it asked.
func turnRows(one *Exchange, before string, f form) (rows []Row) {
	label := fmt.Sprint("turn ", one.Turn)
	if one.Session > 0 {
		label = "  " + label
	}
	sign := tapetext.OutcomeStyle(one.Outcome.How).Span(one.Outcome.How.Sign() + " ")
	asked, style := OneLine(one.Asked), termtext.Bold
	if asked == before && asked != "" {
		asked, style = "the same again", termtext.Dim
	}
	answered := one.Came()
	room := max(f.width-LabelColumns-2, 2)
	if f.width <= 0 || max(f.turn, f.last) == 0 || termtext.Width(asked)+termtext.Width(answered)+3 <= room {
		asked, answered = share(asked, answered, f.width, room)
		line := append(labelSpan(label), sign, style.Span(asked))
		if answered != "" {
			line = append(line, arrow, termtext.Plain.Span(answered))
		}
		if f.width > 0 {
			line = termtext.CutSpans(line, f.width)
		}
		return []Row{{line, one.Frame}}
	}
	margin := termtext.Plain.Span(labelIndent(f.width))
	head := labelSpan(label)
	add := func(sign termtext.Span, style termtext.Style, lines []string) {
		for i, text := range lines {
			if i > 0 {
				sign = termtext.Plain.Span("  ")
			}
			rows = append(rows, Row{append(head, sign, style.Span(text)), one.Frame})
			head = []termtext.Span{margin}
		}
	}
	lines := Closing(answered, max(f.turn, f.last), room)
	if len(lines) == 0 { // the sign goes with the prompt
		add(sign, style, termtext.FirstLines(cmp.Or(asked, " "), max(f.turn, 1), room))
		return rows
	}
	add(termtext.Dim.Span("› "), style, termtext.FirstLines(asked, max(f.turn, 1), room))
	add(sign, termtext.Plain, lines)
	return rows
}

// share shortens two texts so that they take so many columns together, with an arrow between
// them, unless width is 0.
func share(a, b string, width, columns int) (string, string) {
	if width <= 0 {
		return a, b
	}
	columns -= arrowColumns
	a = termtext.CutWords(a, max(columns*3/5, columns-termtext.Width(b), 1))
	return a, termtext.CutWords(b, max(columns-termtext.Width(a), 1))
}

const arrowColumns = 3

// said returns at most n lines of what was said, after a label.
func said(label, text string, style termtext.Style, n, width int, at Frame) (rows []Row) {
	margin := labelIndent(width)
	lines := termtext.FirstLines(text, n, max(width-len(margin), min(width, 1)))
	if len(lines) == 0 {
		return nil
	}
	if len(margin) < LabelColumns { // too narrow for a column of labels
		rows = append(rows, Row{labelSpan(label), at})
	}
	for _, one := range lines {
		head := termtext.Plain.Line(margin)
		if len(rows) == 0 {
			head = labelSpan(label)
		}
		rows = append(rows, Row{append(head, style.Span(one)), at})
	}
	return rows
}

// ExchangesOf returns all turns of sessions, or none if those are more than most. label names
// frames.
func ExchangesOf(sessions []*trace.Session, most int, label func(seq uint64) string) (list []Exchange) {
	sessions = slices.DeleteFunc(slices.Clone(sessions), func(s *trace.Session) bool { return len(s.Conversation.Turns) == 0 })
	slices.SortStableFunc(sessions, func(a, b *trace.Session) int { // as dialogs counts them
		one, other := a.Conversation.Turns[0], b.Conversation.Turns[0]
		return cmp.Or(cmp.Compare(one.Run, other.Run), cmp.Compare(one.Prompt, other.Prompt))
	})
	number := 0
	for _, session := range sessions {
		turns := session.Conversation.Turns
		if number++; len(list)+len(turns) > most {
			return nil
		}
		for _, t := range turns {
			one := exchangeOf(t)
			one.Session, one.Frame.Label = number, label(t.Prompt)
			list = append(list, one)
		}
	}
	if number == 1 {
		for i := range list {
			list[i].Session = 0
		}
	}
	return list
}

// listMark matches the sign of a list in Markdown.
var listMark = lazyregexp.New(`(?m)^( *)[-*+] +`)

// exchangeOf returns what is told of a turn.
func exchangeOf(t *trace.Turn) Exchange {
	e := Exchange{Turn: t.Number, Outcome: t.Outcome, Ending: t.Outcome.String(), Asked: termtext.Unmarked(t.Asked), Answered: termtext.Unmarked(listMark().ReplaceAllString(t.Answer(), "$1• ")), Frame: Frame{Run: t.Run, Seq: t.Prompt}}
	if n := len(t.LastCalls); n > 0 && t.Outcome.How > dialect.Done {
		var calls []string
		for _, c := range t.LastCalls {
			calls = append(calls, callTitle(c, "")+callState(c))
		}
		e.Did = termtext.Counted(t.Work.Tools, "tool call")
		if t.Work.Tools > n {
			e.Did += ", the last ones"
		}
		e.Did += ": " + strings.Join(calls, ", ")
		if last := t.LastCalls[n-1]; !last.Rejected && t.Work.Requests.Cancelled == 0 {
			e.last = last
		}
	}
	return e
}

// callState says in parentheses what became of a tool call that did not succeed; of others nothing.
func callState(c *trace.ToolCall) string {
	switch state := c.State(); {
	case state == "rejected", state == "cancelled":
		return " (" + state + ")"
	case c.Failed():
		return " (failed)"
	case !c.Finished():
		return " (unfinished)"
	}
	return ""
}
