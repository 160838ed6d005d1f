package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// numbers tells what is biggest, what is slowest, and when.
type numbers struct {
	Plots  []*plot
	Tables []numberTable
	Most   []numberTable // tables with a few rows each
}

func (n *numbers) html() h.Node {
	if n == nil {
		return nil
	}
	named := func(t numberTable) h.Node { return h.Group{h.H3(h.Text(t.Name)), h.NL, t.html()} }
	return h.Group{h.Section(h.ID("numbers"), h.H2(h.Text("Numbers")), h.NL,
		h.Each(n.Plots, (*plot).html),
		h.Given(len(n.Most), h.Div(h.Class("side-by-side"), h.Each(n.Most, func(t numberTable) h.Node { return h.Group{h.Div(named(t)), h.NL} })), h.NL),
		h.Each(n.Tables, func(t numberTable) h.Node { return h.Group{named(t), h.NL} })), h.NL}
}

// A numberTable is a table of numbers.
type numberTable struct {
	Name    string
	Columns []numberColumn
	Rows    [][]numberCell
	Left    int    // rows not shown
	Note    string // what is omitted
}

type numberColumn struct {
	Heading, Class string
	Bars           bool // it has histograms
}

type numberCell struct {
	Text, Class string
	Link        string // id of the linked element; may be empty
	Bars        histogram
}

func (t *numberTable) html() h.Node {
	return h.Group{h.Div(h.Class("scroll"), h.Attr("tabindex", "0"), h.Table(h.Class("numbers tight", h.If(len(t.Columns) > 3, "wide")),
		h.THead(h.Tr(h.Each(t.Columns, numberColumn.html))),
		h.TBody(h.NL, h.Each(t.Rows, func(row []numberCell) h.Node { return h.Group{h.Tr(h.Each(row, numberCell.html)), h.NL} })))), h.NL,
		h.Given(t.Left, h.P(h.Class("soft"), h.Text(fmt.Sprintf("and %d more", t.Left)))), textIn(h.P, "meta small", t.Note)}
}

func (c numberColumn) html() h.Node {
	heading := h.Text(c.Heading)
	switch {
	case c.Bars:
		heading = h.Group{h.Raw(decades), span("skip", c.Heading)}
	case c.Heading == "":
		heading = span("skip", "of")
	}
	return h.Th(h.Scope("col"), h.Given(c.Class, h.Class(c.Class)), heading)
}

// decades is the scale of histograms.
const decades = `<svg width="144" height="20" aria-hidden="true"><text x="24" y="14" text-anchor="middle">1 ms</text><text x="72" y="14" text-anchor="middle">100 ms</text><text x="120" y="14" text-anchor="middle">10 s</text></svg>`

func (c numberCell) html() h.Node {
	text := runList(titleRuns(c.Text))
	if c.Link != "" {
		text = h.A(h.Link(c.Link), text)
	}
	return h.Td(h.Given(c.Class, h.Class(c.Class)), text, h.Given(len(c.Bars), h.SVG(h.Width("144"), h.Height("20"), h.Aria("hidden", "true"), h.Each(c.Bars, histogramBar.html))))
}

// Limits of the tables.
const (
	mostNumbers = 40 // rows
	mostSlow    = 10
	mostLarge   = 5
)

// numbers returns the numbers, or nil if there are none.
func (r *reader) numbers(story []*chapter) *numbers {
	n := &numbers{Plots: r.plots(), Tables: r.tables()}
	for _, t := range []numberTable{r.slowTurns(story), r.slowCalls(), r.largest()} {
		if len(t.Rows) > 0 {
			n.Most = append(n.Most, t)
		}
	}
	if len(n.Plots)+len(n.Tables)+len(n.Most) == 0 {
		return nil
	}
	return n
}

// tables returns the tables about all tapes that have rows. It omits the times of whole
// turns if there is only one turn.
func (r *reader) tables() []numberTable {
	list := []numberTable{r.methods(), timings("tools", "calls", r.tally.Stats.Tools(), r.frameOf), timings("servers of the agent", "calls", r.tally.Stats.Servers(), r.serverFrameOf)}
	for _, t := range r.tally.Stats.Overview() {
		switch t.Name {
		case "turns", "waits":
			if r.tally.Stats.Turns().Total() > 1 {
				list = append(list, tableOf(&t))
			}
		case "tokens":
			list = append(list, tableOf(&t))
		}
	}
	return slices.DeleteFunc(list, func(t numberTable) bool { return len(t.Rows) == 0 })
}

func (r *reader) frameOf(p stats.Place) string { return r.link(r.frame(p.Run, p.Seq)) }

func (r *reader) serverFrameOf(p stats.Place) string {
	return r.link(r.serverFrame(r.in.Servers[p.Run].Info.Tape, p.Seq))
}

// link returns the link to a frame, or "" if frames are not listed.
func (r *reader) link(f frameRef) string {
	if r.in.NoFrames {
		return ""
	}
	return "frame-" + f.String()
}

// methods returns how many frames each method and update has, and how long calls took.
func (r *reader) methods() numberTable {
	t := newTimingTable("methods and updates", "frames", "bytes")
	for _, c := range r.frames.List() {
		t.add(c.Name, c.Frames, c.Failed, termtext.ByteSize(c.Bytes), r.tally.Stats.Method(c.Name), r.frameOf)
	}
	return t.done()
}

// timings returns a table of times. place returns the link to a place.
func timings(name, count string, list []stats.Named, place func(stats.Place) string) numberTable {
	t := newTimingTable(name, count, "open")
	for _, one := range list {
		t.add(one.Name, one.Total(), one.Failed, termtext.NonZero(int64(one.Open)), one.Timing, place)
	}
	return t.done()
}

// A timingTable is a table of times, with a histogram in each row.
type timingTable struct{ numberTable }

func newTimingTable(name, count, more string) *timingTable {
	t := &timingTable{numberTable{Name: name}}
	for _, heading := range []string{count, "failed", more, "p50", "p95", "max"} {
		t.Columns = append(t.Columns, numberColumn{Heading: heading, Class: "n"})
	}
	t.Columns = append([]numberColumn{{Heading: "name"}}, t.Columns...)
	t.Columns = append(t.Columns, numberColumn{Heading: "0.1 ms to 100 s", Class: "bars", Bars: true})
	return t
}

// add adds a row. of is nil for what has no response.
func (t *timingTable) add(name string, n, failed int, more string, of *stats.Timing, place func(stats.Place) string) {
	if len(t.Rows) == mostNumbers {
		t.Left++
		return
	}
	row := []numberCell{{Text: termtext.Piece(name)}, {Text: termtext.Grouped(int64(n))}, {Text: termtext.NonZero(int64(failed))}, {Text: more}, {}, {}, {}, {}}
	if of != nil && of.Took.Count() > 0 {
		for i, percent := range []int{50, 95} {
			if ns, ok := of.Took.Percentile(percent); ok {
				row[4+i].Text = termtext.Duration(time.Duration(ns))
			}
		}
		row[6].Text = termtext.Duration(time.Duration(of.Took.Max()))
		row[6].Link = place(of.Slowest)
		row[7].Bars = newHistogram(of.Took.All())
	}
	for i := range row {
		row[i].Class = t.Columns[i].Class
	}
	row[2].Class += " bad"
	t.Rows = append(t.Rows, row)
}

// done returns the table without its empty columns.
func (t *timingTable) done() numberTable {
	for i := len(t.Columns) - 1; i > 0; i-- {
		if slices.ContainsFunc(t.Rows, func(row []numberCell) bool { return row[i].Text != "" || row[i].Bars != nil }) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, i, i+1)
		for n := range t.Rows {
			t.Rows[n] = slices.Delete(t.Rows[n], i, i+1)
		}
	}
	return t.numberTable
}

// tableOf returns a table in the page's form.
func tableOf(t *stats.Table) numberTable {
	one := numberTable{Name: t.Name, Left: max(len(t.Rows)-mostNumbers, 0)}
	shown := t.Shown(0, 0)
	for _, i := range shown {
		c := numberColumn{Heading: t.Columns[i].Heading, Class: "n"}
		if t.Columns[i].Left {
			c.Class = ""
		}
		one.Columns = append(one.Columns, c)
	}
	for _, row := range t.Rows[:min(len(t.Rows), mostNumbers)] {
		var cells []numberCell
		for at, i := range shown {
			c := numberCell{Text: termtext.Cut(row[i].String(), 160), Class: one.Columns[at].Class}
			switch {
			case row[i].TellsNothing():
				c.Class += " soft"
			case t.Columns[i].Name == "failed":
				c.Class += " bad"
			}
			cells = append(cells, c)
		}
		one.Rows = append(one.Rows, cells)
	}
	return one
}

// fewRows returns an empty table with three columns: what, when, and a number.
func fewRows(name, number string) numberTable {
	return numberTable{Name: name, Columns: []numberColumn{{Heading: "what"}, {Heading: "at", Class: "n"}, {Heading: number, Class: "n"}}}
}

func (t *numberTable) row(what, link, at, number string) {
	t.Rows = append(t.Rows, []numberCell{{Text: what, Link: link}, {Text: at, Class: "n soft"}, {Text: number, Class: "n"}})
}

// moment formats a time since the beginning of a tape.
func moment(t time.Duration) string {
	if t <= 0 {
		return "0 s"
	}
	return termtext.Duration(t)
}

// slowTurns returns the slowest turns of a story if there are enough to compare.
func (r *reader) slowTurns(story []*chapter) numberTable {
	var all []choice
	for _, c := range story {
		for i, t := range c.turns {
			if !t.Untimed && !t.Open() {
				all = append(all, choice{c, i})
			}
		}
	}
	table := fewRows("slowest turns", "took")
	if len(all) < 3 {
		return table
	}
	length := func(c choice) time.Duration { return c.turn().Ended - c.turn().Began }
	slices.SortStableFunc(all, func(a, b choice) int { return cmp.Compare(length(b), length(a)) })
	for _, c := range all[:min(len(all), mostLarge)] {
		e := r.lead(c)
		table.row(termtext.Dotted("turn "+e.Name, termtext.Brief(e.Text, 60)), e.Link, moment(c.turn().Began), termtext.Duration(length(c)))
	}
	return table
}

// A timedCall is a call or a tool call that has ended.
type timedCall struct {
	what, link string
	began      time.Duration
	took       time.Duration
}

// slowCalls returns the slowest calls and tool calls, except prompts, which are turns, and
// questions to the user, whose time says nothing about speed.
func (r *reader) slowCalls() numberTable {
	t := fewRows("slowest calls and tools", "took")
	var list []timedCall // the slowest first
	add := func(took time.Duration, call func() timedCall) {
		at := slices.IndexFunc(list, func(c timedCall) bool { return c.took < took })
		switch {
		case at < 0 && len(list) == mostSlow:
			return
		case at < 0:
			at = len(list)
		}
		list = slices.Insert(list, at, call())
		list = list[:min(len(list), mostSlow)]
	}
	calls := slices.DeleteFunc(slices.Clone(r.trace.Calls), func(c *trace.Call) bool {
		return dialect.Does(c.Method, dialect.Prompts) || trace.PartOf(c.Method) == trace.ForUser
	})
	if len(calls) < len(r.trace.Calls) {
		t.Note = "without prompts, and what you were asked"
	}
	for _, c := range stats.Slowest(calls, mostSlow) {
		add(c.Latency(), func() timedCall {
			return timedCall{termtext.Spaced(termtext.Piece(c.Name()), termtext.Piece(c.Tool)), r.link(r.frame(c.Run, c.Request)), c.Began, c.Latency()}
		})
	}
	for _, s := range r.sessions() {
		for _, e := range s.Conversation.Entities {
			if c := e.ToolCall; c != nil && c.Finished() && !e.Untimed && !e.Replayed {
				add(e.Ended-e.Began, func() timedCall {
					frame := r.frame(e.Run, e.First)
					return timedCall{termtext.Brief(cmp.Or(c.Title, c.Name, c.ID), 80), cmp.Or(r.places[frame], r.link(frame)), e.Began, e.Ended - e.Began}
				})
			}
		}
	}
	for _, c := range list {
		t.row(c.what, c.link, moment(c.began), termtext.Duration(c.took))
	}
	return t
}

// largest returns the largest frames.
func (r *reader) largest() numberTable {
	t := fewRows("largest frames", "bytes")
	for _, f := range r.flow.large {
		at := moment(f.at)
		if f.untimed {
			at = ""
		}
		t.row(f.name, r.link(r.frame(f.run, f.seq)), at, termtext.ByteSize(f.size))
	}
	return t
}
