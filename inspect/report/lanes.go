package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// lanes lists the steps of a phase, each with a bar on one time axis. What was said or
// done in a step is shown below its row.
type lanes struct {
	ID    string // id of the element with the ticks
	Ticks []tick
	Rows  []*lane
	Bare  bool // there are no times, and thus no bars

	From, Length int64 // of the axis, in µs; Length is 0 if the axis has several parts
}

func (l *lanes) html() h.Node {
	return h.Group{h.Div(h.Class("lanes", h.If(l.Bare, "bare")),
		h.Given(l.Length, h.Data("from", fmt.Sprint(l.From)), h.Data("length", fmt.Sprint(l.Length))),
		h.Given(!l.Bare, h.Div(h.Class("lane axis"), h.Aria("hidden", "true"), h.Raw("<span>what</span>"),
			h.Span(h.Class("time"), h.SVG(
				h.El("defs", h.El("g", h.ID(l.ID), h.Each(l.Ticks, func(t tick) h.Node {
					return h.Shape("line", h.Attr("x1", t.X), h.Attr("x2", t.X), h.Attr("y2", "24"))
				}))),
				h.Each(l.Ticks, func(t tick) h.Node { return t.html("13") }))),
			h.Raw("<span>took</span>"))), h.NL,
		h.Each(l.Rows, (*lane).html)), h.NL}
}

// A lane is one step, or several successful ones of a kind.
type lane struct {
	Ticks  string // id of the element with the ticks; empty if the row has no bars
	Kind   string // one of our own words
	Label  string
	Frame  frameRef
	Inside bool   // part of the row above: what that asked of the client or of a server
	Took   string // empty for a single frame
	Wrong  string // what went wrong
	Grave  bool   // it failed
	Choice string // what the user answered
	Asked  frameRef
	Bars   []rect
	Item   *item   // what was said or done; nil if nothing is known but the frame
	Below  []*lane // what the step asked of the client or of servers
	Folded []*lane // the steps that this row stands for

	span  steps.Span
	class string
	asks  []steps.Span // while the user was asked
	open  bool         // it lasts until now
}

func (l *lane) html() h.Node {
	wrong, inside := h.If(l.Grave, "wrong"), h.If(l.Inside, "inside")
	below := h.Each(l.Below, (*lane).html)
	switch one := l.Item; {
	case l.Folded != nil:
		return h.Group{h.Details(h.Class("step group"), h.ID("g-"+l.Frame.String()), h.Summary(h.Class("lane"), l.row()), h.NL, h.Each(l.Folded, (*lane).html)), h.NL}
	case one == nil:
		return h.Group{h.Div(h.Class("step", wrong, inside), l.Frame.data(), h.Div(h.Class("lane"), l.row())), h.NL, below}
	case one.Tool != nil:
		return h.Group{h.Details(h.Class("step tool", wrong, inside), h.ID(one.ID), l.Frame.data(), h.Given(one.Tool.Open, h.Flag("open")),
			h.Summary(h.Class("lane"), l.row()), one.tool()), h.NL, below}
	default:
		return h.Group{h.Div(h.Class("step", wrong, inside, "said", one.Kind), h.ID(one.ID), l.Frame.data(), h.Div(h.Class("lane"), l.row()), one.html()), h.NL, below}
	}
}

// row returns the row itself: what it is about, when it was, and how long it took.
func (l *lane) row() h.Node {
	return h.Group{
		h.Span(h.Class("what"), l.what(),
			h.Given(l.Choice, h.Span(h.Class("word choice"), l.Asked.data(), h.Title("the user was asked, frame "+l.Asked.String()), h.Text("asked: "+l.Choice))),
			h.Given(l.Wrong, h.Span(h.Class("word", h.If(l.Grave, "bad")), h.Text(h.If(l.Grave, "✗ ")+l.Wrong)))),
		h.Given(l.Ticks, h.Span(h.Class("time"), h.SVG(h.Aria("hidden", "true"), h.Shape("use", h.Link(l.Ticks)), h.Each(l.Bars, func(r rect) h.Node { return r.html() })))),
		span("took", l.Took),
	}
}

// what returns the kind of the row and its label.
func (l *lane) what() h.Node {
	kind, at := span("kind", l.Kind), "frame "+l.Frame.String()
	switch {
	case l.Folded != nil:
		return h.Group{kind, span("cut", l.Label)}
	case l.Item == nil:
		return h.A(l.Frame.link(), h.Title(at), kind, h.Span(h.Class("cut"), h.Auto(), h.Text(l.Label)))
	case l.Item.Tool != nil:
		return h.Group{kind, h.Span(h.Class("cut"), h.Auto(), runList(titleRuns(l.Label)))}
	case l.Item.At != "":
		at += ", " + l.Item.At + " after the prompt"
	}
	return h.Group{h.A(h.Class("kind"), h.Link(l.Item.ID), h.Title(at), h.Text(l.Kind)), span("cut", l.Label)}
}

// source returns the data for the page's phases.
func (r *reader) source() steps.Source {
	return steps.Source{
		Trace: &r.trace, Calls: &r.calls,
		Start: func(run int) time.Time { return r.in.Tapes[run].Info.Start.Time },
		Until: func(run int) time.Duration { return r.ends[run] },
	}
}

// span returns the time span of a turn.
func (r *reader) span(t *trace.Turn) steps.Span {
	return steps.Span{Run: t.Run, From: t.Began, To: r.source().End(t)}
}

// lanes returns the rows of a phase with their items, in order: those of items, and as
// many calls at most.
func (r *reader) lanes(id string, p *steps.Phase, items []item) *lanes {
	a := newAxis([]steps.Span{p.Span}, 0)
	l := &lanes{ID: "t-" + id, Ticks: a.ticks(), From: p.From.Microseconds(), Length: (p.To - p.From).Microseconds()}
	if row := r.modelLane(p, a); row != nil {
		l.Rows = append(l.Rows, row)
	}
	byEntity, byFrame := map[*trace.Entity]int{}, map[frameRef]int{}
	for i, one := range items {
		byFrame[one.Frame] = i
		if one.of != nil {
			byEntity[one.of] = i
		}
	}
	itemOf := func(s *steps.Step) (i int, ok bool) {
		switch {
		case s.Entity != nil:
			i, ok = byEntity[s.Entity]
		case s.Call != nil: // a question, which is an entity too
			i, ok = byFrame[r.frame(s.Run, s.Frame)]
		}
		return i, ok
	}
	done := make([]bool, len(items))
	next, calls := 0, 0
	flush := func(to int) { // adds the items that have no step
		for ; next < to; next++ {
			if !done[next] {
				l.Rows = append(l.Rows, itemLane(&items[next]))
			}
		}
	}
	var add func(s *steps.Step) *lane
	add = func(s *steps.Step) *lane {
		row := r.stepLane(s, p)
		if i, ok := itemOf(s); ok && !done[i] {
			row.Item, done[i] = &items[i], true
			row.Inside = row.Item.Depth > 0
			if row.Item.Tool == nil && row.Item.Kind != "plan" {
				row.Label = "" // the item says it
			}
		} else if s.Entity != nil {
			return nil // left out
		}
		for _, below := range s.Below[:min(len(s.Below), maxEntities)] {
			if below.Asked != nil && s.Entity != nil {
				row.asked(below, r.frame(below.Run, below.Frame))
			} else if below.Server == nil || !below.Untimed {
				if one := add(below); one != nil {
					one.Inside = true
					row.Below = append(row.Below, one)
				}
			}
		}
		if row.Item != nil && row.Below != nil {
			row.Item.Calls = nil // they have rows
		}
		return row
	}
	for _, s := range p.Steps {
		if s.Server != nil && s.Untimed {
			continue
		}
		if s.Entity == nil {
			if calls++; calls > maxEntities {
				continue
			}
		}
		if i, ok := itemOf(s); ok {
			flush(i)
		}
		if row := add(s); row != nil {
			l.Rows = append(l.Rows, row)
		}
	}
	flush(len(items))
	for _, row := range l.Rows {
		row.draw(a, l.ID)
	}
	return l
}

// asked notes that a tool call waited for the user.
func (l *lane) asked(s *steps.Step, frame frameRef) {
	l.asks, l.Asked = append(l.asks, s.Span), frame
	switch p := s.Asked; {
	case s.Open:
		l.Choice = "no answer"
	case p.Outcome == "selected":
		l.Choice = termtext.Cut(termtext.Piece(p.Choice()), 24)
	default:
		l.Choice = termtext.Piece(p.Outcome)
	}
}

// itemKinds are the words for items that have no step.
var itemKinds = map[string]string{"prompt": "you", "agent": "says", "thought": "thinks", "plan": "plan", "permission": "asks", "terminal": "run", "error": "error", "replayed": "history"}

// itemLane returns the row of an item of which no time is known.
func itemLane(one *item) *lane {
	if one.Kind == "change" {
		return &lane{Kind: "change", Label: one.Title, Frame: one.Frame, Took: one.At}
	}
	l := &lane{Kind: itemKinds[one.Kind], Frame: one.Frame, Item: one, Inside: one.Depth > 0, Grave: one.Kind == "error" || one.Class == "bad"}
	if t := one.Tool; t != nil {
		l.Kind, l.Label, l.Took = one.Tool.Kind.Word, t.Title, t.Took
		if l.Grave = t.State.Class == "bad"; t.State.Class != "good" {
			l.Wrong = t.State.Word
		}
	}
	return l
}

// itemLanes returns the rows of items of which no time is known.
func itemLanes(items []item) (rows []*lane) {
	for i := range items {
		rows = append(rows, itemLane(&items[i]))
	}
	return rows
}

// draw makes the bars of a row.
func (l *lane) draw(a *axis, ticks string) {
	l.Ticks = ticks
	if l.Bars == nil && l.class != "" {
		l.Bars = []rect{a.rect(l.span, l.class)}
		l.Bars[0].Open = l.open
	}
	for _, s := range l.asks {
		l.Bars = append(l.Bars, a.rect(s, "waits"))
	}
	l.Grave = l.Grave || strings.HasSuffix(l.class, " bad")
	for _, below := range l.Below {
		below.draw(a, ticks)
	}
}

// isWrong reports whether the step, or one below it, failed.
func (l *lane) isWrong() bool { return l.Grave || slices.ContainsFunc(l.Below, (*lane).isWrong) }

// fewToFold is how many successful calls in a row become one row.
const fewToFold = 3

// fold makes one row of each run of successful calls of a kind.
func fold(rows []*lane) []*lane {
	var list []*lane
	for i := 0; i < len(rows); {
		end := i
		for end < len(rows) && rows[end].plain() && (rows[end].sort() == rows[i].sort() || trace.OnlyLooks(rows[end].Kind) && trace.OnlyLooks(rows[i].Kind)) {
			end++
		}
		if end-i < fewToFold {
			end = max(end, i+1)
			list = append(list, rows[i:end]...)
		} else {
			list = append(list, folded(rows[i:end]))
		}
		i = end
	}
	return list
}

// plain reports whether a row is a successful call that has nothing else to tell.
func (l *lane) plain() bool {
	return l.Item != nil && l.Item.Tool != nil && !l.Item.Tool.Open && l.Item.Tool.State.Class == "good" && l.Item.Depth == 0 &&
		l.Item.Found == "" && l.Item.Tool.Missing == "" && l.Wrong == "" && l.Choice == "" && l.Below == nil
}

// sort returns what calls must share to become one row.
func (l *lane) sort() string {
	if l.Kind == "calls" { // of servers: the tool
		return l.Label
	}
	return l.Kind
}

// folded returns one row for several.
func folded(rows []*lane) *lane {
	one := &lane{Ticks: rows[0].Ticks, Kind: "calls", Frame: rows[0].Frame, Folded: rows}
	var kinds []string
	n := map[string]int{}
	took := time.Duration(0)
	for _, l := range rows {
		if n[l.sort()]++; n[l.sort()] == 1 {
			kinds = append(kinds, l.sort())
		}
		one.Bars = append(one.Bars, l.Bars...)
		took += l.span.To - l.span.From
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d × %s", n[kind], kind)
	}
	one.Label = strings.Join(kinds, ", ")
	if one.Ticks != "" {
		one.Took = termtext.Duration(took)
	}
	return one
}

// modelLane returns the row of a turn's time waiting for the model, or nil if there is
// too little to see.
func (r *reader) modelLane(p *steps.Phase, a *axis) *lane {
	if p.Turn == nil {
		return nil
	}
	l := &lane{Kind: "waits", Label: "waiting for the model", Frame: r.frame(p.Run, p.Frame), class: "model", span: steps.Span{Run: p.Run, From: p.From, To: p.From}}
	waited, slowest := time.Duration(0), time.Duration(0)
	for _, w := range p.Waits {
		if !w.Quiet {
			continue
		}
		waited += w.Took()
		s := steps.Span{Run: p.Run, From: w.From, To: w.To}
		class := l.class
		if w.Took() >= dialect.SilentLimit {
			class, l.Wrong = class+" slow", "slow: "+termtext.Duration(max(w.Took(), slowest))
			slowest = max(w.Took(), slowest)
		}
		if a.at(s.Run, s.To)-a.at(s.Run, s.From) >= thinnest {
			l.Bars = append(l.Bars, a.rect(s, class))
		}
	}
	if l.Bars == nil {
		return nil
	}
	l.Took = termtext.Duration(waited)
	return l
}

// kindLooks gives each kind of step its label and CSS class.
var kindLooks = [...]struct{ word, class string }{
	steps.SetUp: {"start", "start"}, steps.Starts: {"server", "mcp"}, steps.Thinks: {"thinks", "thinks"}, steps.Says: {"says", "says"},
	steps.Tool: {"client", "tool"}, steps.Client: {"client", "client"}, steps.User: {"asks you", "waits"}, steps.Server: {"mcp", "mcp"},
}

// slowLimits are the times from which a step of a kind is slow.
var slowLimits = map[steps.Kind]time.Duration{steps.SetUp: dialect.SetupLimit, steps.Tool: dialect.ToolLimit}

// worked returns how long a step took without what it waited for the user.
func worked(s *steps.Step) time.Duration {
	took := s.Took()
	for _, below := range s.Below {
		if below.Kind == steps.User {
			took -= below.Took()
		}
	}
	return took
}

// stepLane returns the row of a step.
func (r *reader) stepLane(s *steps.Step, p *steps.Phase) *lane {
	look := kindLooks[s.Kind]
	l := &lane{Kind: look.word, Label: termtext.Brief(s.Text(), 160), Frame: r.frame(s.Run, s.Frame), span: s.Span, class: look.class}
	l.Took = took(s.Took(), s.Single())
	if s.Untimed {
		l.span.From, l.span.To = p.From, p.From
	}
	switch {
	case s.Entity != nil:
		l.entity(s.Entity, p.Turn, r.live())
	case s.Server != nil:
		l.Frame = r.serverFrame(s.Server.Tape.ID, s.Server.Request)
		if s.Open {
			l.Took = "–"
		}
		if s.Server.Cancelled {
			l.Wrong = "cancelled"
		}
	case s.Starts != nil:
		l.Frame = r.serverFrame(s.Starts.ID, 1)
	}
	switch {
	case l.Wrong != "" || s.Entity != nil:
	case s.Open:
		l.Wrong = "no answer"
	case s.Call != nil && s.Call.Refused && s.Asked == nil:
		l.Wrong = "declined"
	case s.Call != nil && s.Call.Refused:
		l.Wrong = "rejected"
	}
	if limit := slowLimits[s.Kind]; limit > 0 && worked(s) >= limit && !s.Failed && l.Wrong == "" {
		l.class, l.Wrong = l.class+" slow", "slow"
	}
	if l.open = s.Open; s.Failed || l.Grave {
		l.class += " bad"
		if l.Wrong == "" {
			l.Wrong = "failed"
		}
	}
	return l
}

// took formats the time that a step took.
func took(t time.Duration, single bool) string {
	if single || t == 0 {
		return ""
	}
	return termtext.Duration(t)
}

// entity adds what is known about an entity of the agent.
func (l *lane) entity(e *trace.Entity, t *trace.Turn, live bool) {
	switch {
	case e.ToolCall != nil:
		l.Kind = kindOf(e.ToolCall).Word
		if s := toolState(e.ToolCall, t, live); s.Class != "good" {
			l.Wrong, l.Grave = s.Word, s.Class == "bad"
		}
		if !e.ToolCall.Finished() && !e.ToolCall.Rejected {
			l.Took = "–"
		}
	case e.Subagent != nil:
		l.Kind = "agent"
		if o := e.Subagent.Outcome(); o.How != dialect.Done {
			l.Wrong = o.How.String()
		}
	case e.Terminal != nil:
		l.Kind = "run"
	case e.Plan != nil:
		l.Kind = "plan"
	case e.Compaction != nil:
		l.Kind = "agent"
	}
}

// A startUp is what came before the first turn on a tape.
type startUp struct {
	ID     string
	Open   bool // it took long
	Took   string
	Shares []share
	Lanes  *lanes

	span steps.Span
}

func (s *startUp) html() h.Node {
	if s == nil {
		return nil
	}
	return h.Group{h.Details(h.Class("turn"), h.ID(s.ID), h.Given(s.Open, h.Flag("open")),
		h.Summary(h.Raw(`<h3>Start-up</h3> <span class="first">before the first turn</span>`), shareBar(s.Shares), span("meta took", s.Took)),
		h.Div(h.Class("told"), h.NL, h.Given(len(s.Shares), h.P(h.Class("meta small"), h.Span(split(s.Shares))), h.NL), s.Lanes.html())), h.NL}
}

// longStartUp is the shortest start-up that is open on the page.
const longStartUp = 5 * time.Second

// startUp returns what preceded a turn, or nil if nothing did or its time is unknown.
func (r *reader) startUp(c *chapter, t *trace.Turn) *startUp {
	p := c.steps.StartUp(t)
	if p == nil || p.Untimed {
		return nil
	}
	one := &startUp{Open: p.To-p.From >= longStartUp, ID: strings.Replace(c.turnID(t), "turn", "start", 1), Took: termtext.Duration(p.To - p.From), span: p.Span}
	spent := spendings(p.Spend())
	for i := range spent {
		if spent[i].class == "says" { // what the agent does in a start-up has a colour of its own
			spent[i].class = "start"
		}
	}
	one.Lanes, one.Shares = r.lanes(one.ID, p, nil), sharesOf(spent)
	return one
}

// drawn returns a start-up on an axis.
func (s *startUp) drawn(a *axis) stripTurn {
	return stripTurn{Link: s.ID, Title: "start-up, " + s.Took, Back: a.rect(s.span, "back"), Bars: []stripBar{{a.rect(s.span, "start"), "4", "46"}}}
}

// spansOf returns the spans of start-ups.
func spansOf(list map[int]*startUp) (spans []steps.Span) {
	for _, s := range list {
		spans = append(spans, s.span)
	}
	slices.SortFunc(spans, func(a, b steps.Span) int { return a.Run - b.Run })
	return spans
}
