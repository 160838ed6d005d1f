package screen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// A tapeRow is what the list shows about a tape.
type tapeRow struct {
	record.Info
	sessions []record.SessionInfo
	costs    []dialect.Cost
}

// listed returns the sessions that have lines of their own.
func (r *tapeRow) listed() []record.SessionInfo {
	if len(r.sessions) == 1 && len(r.sessions[0].Runs) == 1 {
		return nil
	}
	return r.sessions
}

// title says what the tape is about: its only session's title, the number of sessions, or
// where the agent ran. It is not clean.
func (r *tapeRow) title() string {
	switch {
	case r.Start.Parent.Tape != "":
		return r.ServerName()
	case len(r.sessions) == 1 && len(r.listed()) == 0:
		return cmp.Or(r.sessions[0].Topic(), r.sessions[0].ID)
	case len(r.sessions) > 1:
		return termtext.Counted(len(r.sessions), "session")
	}
	return tapetext.Place(r.Info)
}

// A tapeColumn is a column of the list of tapes.
type tapeColumn struct {
	name    string
	width   int  // including a blank before it; 0: the remaining columns
	first   bool // sorting starts with the largest
	compare func(a, b *tapeRow) int
}

// Columns of the list, as indexes of tapeColumns.
const (
	titleColumn = iota
	agentColumn
	tookColumn
	turnsColumn
	failedColumn
	costColumn
	ageColumn
)

// tapeColumns returns the columns for a list of a given width. Columns that do not fit have a
// negative width.
func tapeColumns(width int) []tapeColumn {
	cost := func(r *tapeRow) (sum float64) {
		for _, c := range r.costs {
			sum += c.Amount
		}
		return sum
	}
	columns := []tapeColumn{
		titleColumn:  {"Tape or session", 0, false, func(a, b *tapeRow) int { return compareText(a.title(), b.title()) }},
		agentColumn:  {"agent", min(max(width/5, 16), 30) + 1, false, func(a, b *tapeRow) int { return compareText(tapetext.AgentName(a.Info), tapetext.AgentName(b.Info)) }},
		tookColumn:   {"took", 7, true, func(a, b *tapeRow) int { return cmp.Compare(a.Took(), b.Took()) }},
		turnsColumn:  {"turns", 7, true, func(a, b *tapeRow) int { return cmp.Compare(a.Turns, b.Turns) }},
		failedColumn: {"failed", 8, true, func(a, b *tapeRow) int { return cmp.Compare(a.Failures, b.Failures) }},
		costColumn:   {"cost", 10, true, func(a, b *tapeRow) int { return cmp.Compare(cost(a), cost(b)) }},
		ageColumn:    {"age", 5, true, func(a, b *tapeRow) int { return a.Start.Time.Compare(b.Start.Time) }},
	}
	left := width - outcomeColumns
	for _, c := range columns {
		left -= c.width
	}
	for _, i := range []int{costColumn, tookColumn, agentColumn, turnsColumn, failedColumn, ageColumn} {
		if left >= minTitle {
			break
		}
		left += columns[i].width
		columns[i].width = -1
	}
	columns[titleColumn].width = max(left, 1)
	return columns
}

const (
	outcomeColumns = 3  // width of the sign of an outcome and a blank
	minTitle       = 16 // minimum width of titles; other columns make room first
)

func compareText(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) }

// A tapeOrder is the sort order of the list: by a column, then newest first. The zero value
// sorts by age.
type tapeOrder struct {
	by   int  // the column, counted from the age, which is last
	back bool // in reverse
}

func (o *tapeOrder) column() int { return (ageColumn + o.by) % (ageColumn + 1) }

// choose sorts by a column or, if it already does, reverses the order.
func (o *tapeOrder) choose(column int) {
	if column == o.column() {
		o.back = !o.back
		return
	}
	*o = tapeOrder{by: (column + 1) % (ageColumn + 1)}
}

// sort sorts tapes, which must be sorted by age.
func (o *tapeOrder) sort(tapes []*tapeRow) {
	by := tapeColumns(0)[o.column()]
	slices.SortStableFunc(tapes, func(a, b *tapeRow) int {
		if by.first != o.back {
			a, b = b, a
		}
		return by.compare(a, b)
	})
}

// says describes the order.
func (o *tapeOrder) says() string {
	c := tapeColumns(0)[o.column()]
	switch {
	case o.column() == ageColumn && o.back:
		return "sorted by age, the oldest first"
	case o.column() == ageColumn:
		return "sorted by age, the newest first"
	case c.first != o.back:
		return "sorted by " + c.name + ", the most first"
	}
	return "sorted by " + strings.ToLower(c.name)
}

// heading returns the headings of the columns. An arrow marks the column that the list is
// sorted by.
func (l *tapeList) heading(width int) page.Line {
	text := strings.Repeat(" ", outcomeColumns)
	for i, c := range tapeColumns(width) {
		if i == l.order.column() {
			c.name += map[bool]string{true: "▾", false: "▴"}[c.first != l.order.back]
		}
		switch {
		case c.width < 0:
		case i == titleColumn:
			text += termtext.Pad(termtext.Cut(c.name, c.width), c.width)
		case i == agentColumn:
			text += " " + termtext.Pad(c.name, c.width-1)
		default:
			text += fmt.Sprintf("%*s", c.width, c.name)
		}
	}
	return page.Line{Spans: termtext.Bold.Line(text), Item: -1, Heading: page.Stays}
}

// columnAt returns the column at position x of a line.
func columnAt(width, x int) int {
	x -= outcomeColumns
	for i, c := range tapeColumns(width) {
		if x -= max(c.width, 0); x < 0 {
			return i
		}
	}
	return ageColumn
}

// rowText is a row's texts by column.
type rowText [ageColumn + 1][]termtext.Span

// spans returns a row's line after its sign.
func (t *rowText) spans(width int, sign termtext.Span) []termtext.Span {
	sign.Text = termtext.Pad(sign.Text, outcomeColumns)
	line := []termtext.Span{sign}
	for i, c := range tapeColumns(width) {
		switch {
		case c.width < 0:
		case i == titleColumn:
			line = append(line, termtext.FitSpans(t[i], c.width)...)
		case i == agentColumn:
			line = append(append(line, termtext.Plain.Span(" ")), termtext.FitSpans(t[i], c.width-1)...)
		default:
			text := termtext.CutSpans(t[i], c.width-1)
			line = append(append(line, termtext.Plain.Span(strings.Repeat(" ", c.width-termtext.SpansWidth(text)))), text...)
		}
	}
	return line
}

// tapeSpans returns a tape's line: the sign of its outcome, and the error before the title.
func (l *tapeList) tapeSpans(r *tapeRow, width, level int) []termtext.Span {
	outcome := r.Outcome()
	sign := tapetext.OutcomeStyle(outcome.How).Span(outcome.How.Sign())
	var title []termtext.Span
	add := func(style termtext.Style, text string) {
		if text != "" {
			title = append(title, style.Span(text+" "))
		}
	}
	if level > 0 {
		title = append(title, termtext.Dim.Span(branch(level)))
	}
	if hangs := hangText(l.hangs[r.Tape], "", l.now()); hangs != "" {
		sign = termtext.Permission.Span(hangSign)
		add(termtext.Permission, hangs+" ·")
	}
	switch {
	case r.Partial && !r.Live:
		sign = termtext.Dim.Span("?")
		add(termtext.Dim, tapetext.State(r.Info)+" ·")
	case outcome.How.IsBad():
		add(termtext.Failure, termtext.Cut(termtext.Brief(outcome.Brief(), 0), min(maxReason, max(tapeColumns(width)[titleColumn].width/2, 8)))+" ·")
	}
	if r.Lost > 0 {
		add(termtext.Failure, termtext.ByteSize(r.Lost)+" not recorded ·")
	}
	add(termtext.Cyan, termtext.Piece(tapetext.Tags(r.Tags)))
	about := termtext.Plain.Span(termtext.Piece(r.title()))
	if level == 0 && len(r.sessions) == 0 {
		about.Style = termtext.Dim
	} else if r.Live {
		about.Style = termtext.Bold
	}
	if n := len(title); about.Text == "" && n > 0 {
		title[n-1].Text = strings.TrimSuffix(title[n-1].Text, " · ") // nothing follows
	}
	text := rowText{titleColumn: append(title, about)}
	text.count(r.Turns, r.Failures, r.costs)
	text[agentColumn] = tapetext.Agent(r.Info, tapeColumns(width)[agentColumn].width-1)
	text[tookColumn] = termtext.Plain.Line(tapetext.TookText(r.Took()))
	text[ageColumn] = termtext.Dim.Line(tapetext.Age(l.now().Sub(r.Start.Time)))
	return text.spans(width, sign)
}

// maxReason limits the columns of the error.
const maxReason = 24

func (t *rowText) count(turns, failures uint64, costs []dialect.Cost) {
	t[turnsColumn] = termtext.Plain.Line(termtext.NonZero(int64(turns)))
	t[failedColumn] = termtext.Failure.Line(termtext.NonZero(int64(failures)))
	t[costColumn] = termtext.Plain.Line(tapetext.CostText(costs))
}

// sessionSpans returns the line for the nth run of a session.
func sessionSpans(session *record.SessionInfo, nth, width, level int) []termtext.Span {
	run := session.Runs[nth]
	state := ""
	switch {
	case session.Deleted:
		state = "deleted · "
	case session.Closed:
		state = "closed · "
	}
	if n := len(session.Runs); n > 1 {
		state = fmt.Sprintf("run %d of %d · %s", nth+1, n, state)
	}
	var costs []dialect.Cost
	if run.Cost.Currency != "" {
		costs = []dialect.Cost{run.Cost}
	}
	text := rowText{titleColumn: {termtext.Dim.Span(branch(level) + state), termtext.Plain.Span(termtext.Piece(cmp.Or(session.Topic(), session.ID)))}}
	text.count(run.Turns, run.Failures, costs)
	sign := tapetext.OutcomeStyle(run.Worst.How).Span(run.Worst.How.Sign())
	return text.spans(width, sign)
}

func unreadableSpans(tape string, err error, width int) []termtext.Span {
	text := termtext.Piece(err.Error())
	if errors.Is(err, record.ErrDamaged) {
		text = "damaged"
	}
	line := []termtext.Span{termtext.Failure.Span(termtext.Pad("✗", outcomeColumns) + text), termtext.Plain.Span(" · " + termtext.Piece(tape))}
	return termtext.FitSpans(line, max(width, 1))
}
