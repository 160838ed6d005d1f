package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
	"github.com/acptap/acptap/replay/compare"
)

// A diff is what a page shows about two runs, A and B.
type diff struct {
	Runs    [2]runHead
	Lead    []string // sentences: which run failed, and how much differs
	Figures []figures
	Strips  []strips
	Outline outlines
	Found   []ruleFindings // in only one of the runs
	InBoth  []ruleFindings
	Latency latencies
}

// letter returns the sign of a run.
func letter(run string) h.Node { return h.B(h.Class("letter "+run), h.Text(run)) }

// head returns what the top of the page says about both runs.
func (d *diff) head() h.Node {
	return h.Group{h.Div(h.Class("runs"), h.Each(d.Runs[:], runHead.html)), h.NL,
		h.Each(d.Lead, func(text string) h.Node { return h.Group{h.P(h.Class("lead"), h.Text(text)), h.NL} }), h.NL,
		h.Div(h.Class("scroll"), h.Attr("tabindex", "0"), h.Table(h.Class("numbers both"),
			h.Raw(`<thead><tr><th scope="col"><span class="skip">of</span></th><th scope="col"><b class="letter A">A</b></th><th scope="col"><b class="letter B">B</b></th><th scope="col">B against A</th></tr></thead>`),
			h.TBody(h.NL, h.Each(d.Figures, figures.html))))}
}

// html returns the sections about both runs.
func (d *diff) html() h.Node {
	if d == nil {
		return nil
	}
	return h.Group{
		h.Given(len(d.Strips), h.Section(h.ID("turns"), h.H2(h.Text("Turns")), h.NL, h.Each(d.Strips, strips.html)), h.NL),
		h.Section(h.ID("outline"), h.H2(h.Text("Outlines")), h.NL,
			h.Raw(`<p class="meta">Ids, times, numbers of tokens and the working directory do not count.</p>`), h.NL, d.Outline.links(), leftOut(d.Outline.Left),
			h.Div(h.Class("outlines"), h.Div(h.Class("sides"), h.Aria("hidden", "true"), h.Each(d.Runs[:], func(r runHead) h.Node { return h.Span(r.name()) })), h.NL,
				h.Each(d.Outline.Stretches, stretch.html))), h.NL,
		h.Given(len(d.Found)+len(d.InBoth), h.Section(h.ID("findings"), h.H2(h.Text("Findings")), h.NL,
			h.Given(len(d.Found), h.P(h.Class("meta"), h.Text("Of one run only")), ruleTable(d.Found)), h.NL,
			h.Given(len(d.InBoth), h.Details(h.Summary(h.Text(fmt.Sprintf("In both: %d", len(d.InBoth)))), ruleTable(d.InBoth)))), h.NL),
		h.Given(len(d.Latency.Groups), h.Section(h.ID("latency"), h.H2(h.Text("Latency")), h.NL,
			h.Raw(`<p class="meta">Half of them took p50 or less, 95 of a hundred p95.</p>`), h.NL, d.Latency.html()), h.NL),
	}
}

// WriteDiff writes a page that compares two runs. It uses a's Filter, NoFrames, Limit,
// Title, Raw and Version, and ignores First and Last. It returns what Write returns.
func WriteDiff(w io.Writer, a, b Input) (broken []error, err error) {
	rows := newRows(&a)
	rows.expect(&b)
	rows.table.Runs = 0
	rows.table.Ref = termtext.Line(a.Ref)
	ra, rb := newReader(&a, rows), newReader(&b, rows)
	ra.side, rb.side, rb.before = "A", "B", len(a.Tapes)+len(a.Servers)
	both := [2]*reader{ra, rb}
	rows.max = maxRows / 2
	for _, r := range both {
		r.outline = compare.NewOutliner(compare.Side{Session: r.in.Session}, compare.Content)
		r.outline.Limit = maxOutline
		r.readAll()
		rows.max = maxRows
		for _, err := range r.broken {
			broken = append(broken, fmt.Errorf("%s, %s: %w", r.side, r.in.Ref, err))
		}
	}
	return broken, ra.pageWith(w, rb)
}

// pageWith writes the page for two runs.
func (a *reader) pageWith(w io.Writer, b *reader) error {
	command := "acptap diff " + termtext.Line(a.in.Ref) + " " + termtext.Line(b.in.Ref)
	d := &diff{Outline: a.outlinesWith(b, command), Figures: a.figuresWith(b), Strips: a.stripsWith(b), Latency: latenciesOf(&a.tally.Stats, &b.tally.Stats)}
	d.Found, d.InBoth = a.findingsWith(b)
	d.Lead = append(a.verdict(b), d.Outline.Lead)
	p := a.newPage()
	p.Diff = d
	p.Head = head{Title: a.titleWith(b), Badges: []badge{a.redaction()}}
	for i, r := range [2]*reader{a, b} {
		d.Runs[i] = r.runHead(p.Head.Title)
		for _, text := range r.damage() {
			p.Damage = append(p.Damage, r.side+": "+text)
		}
		for _, tape := range r.tapes() {
			p.Foot.Tapes = append(p.Foot.Tapes, r.side+": "+tape)
		}
	}
	p.Foot.Left = append(p.Foot.Left, command+" writes the same outlines to a terminal.")
	p.list(a)
	return p.write(w)
}

// verdict says which run failed, and how, or that both came out alike.
func (a *reader) verdict(b *reader) []string {
	var of [2]dialect.Outcome
	for i, r := range [2]*reader{a, b} {
		s := r.sum
		of[i] = s.Outcome()
	}
	text := func(o dialect.Outcome) string { return tapetext.OutcomeSpan(o).Text }
	bad := [2]bool{of[0].How.IsBad(), of[1].How.IsBad()}
	switch {
	case bad == [2]bool{true, false}:
		return []string{"A failed: " + text(of[0]) + ". B: " + text(of[1]) + ".", "Less time, tokens and cost of A are no gain, as it did not finish."}
	case bad == [2]bool{false, true}:
		return []string{"B failed: " + text(of[1]) + ". A: " + text(of[0]) + ".", "Less time, tokens and cost of B are no gain, as it did not finish."}
	case of[0] == of[1]:
		return []string{"Both runs: " + text(of[0]) + "."}
	}
	return []string{"A: " + text(of[0]) + ". B: " + text(of[1]) + "."}
}

// titleWith returns the title of the page: the prompt, if both runs share it.
func (a *reader) titleWith(b *reader) string {
	if title := a.title(); a.in.Title != "" || title == b.title() {
		return title
	}
	return "Two runs"
}

// maxOutline is the approximate number of bytes of an outline that are compared.
const maxOutline = 4 << 20

// outlinesWith compares the outlines of both runs.
func (a *reader) outlinesWith(b *reader, command string) outlines {
	readers := [2]*reader{a, b}
	runs := outlineRuns{A: a.outline.Steps(), B: b.outline.Steps(), Cut: a.outline.Full() || b.outline.Full(), Command: command}
	runs.Frame = func(side int, at compare.Position) string { return readers[side].frame(at.Tape, at.Seq).String() }
	runs.Room = a.limits.story
	page := runs.outlines()
	a.told += page.Size
	return page
}

// A runHead is the head of one run.
type runHead struct {
	Letter string
	Ref    string
	Title  string // empty if it equals the page's title
	Facts  []string
	Badges []badge
}

func (r runHead) html() h.Node {
	return h.Group{h.Section(h.Aria("label", "Run "+r.Letter),
		h.P(h.Class("run"), r.name(), h.Each(r.Badges, func(b badge) h.Node { return h.Group{h.Text(" "), b.html()} })), h.NL,
		h.Given(r.Title, h.P(h.Class("ink"), h.Text(r.Title)), h.NL),
		h.P(h.Each(r.Facts, fact))), h.NL}
}

func (r runHead) name() h.Node {
	return h.Group{letter(r.Letter), h.Text(" "), span("mono cut", r.Ref)}
}

func (r *reader) runHead(title string) runHead {
	h := runHead{Letter: r.side, Ref: termtext.Brief(r.in.Ref, 160), Facts: r.facts(), Badges: r.state()}
	if t := r.topic(); t != title {
		h.Title = t
	}
	return h
}

// figures holds one number of both runs.
type figures struct {
	Label      string
	Of         [2]figure
	Difference difference
	Class      string // class of the difference
}

func (f figures) html() h.Node {
	return h.Group{h.Tr(h.Th(h.Scope("row"), h.Text(f.Label)),
		h.Each(f.Of[:], func(of figure) h.Node {
			return h.Td(h.B(h.Text(of.Value.String())), h.Given(of.Wrong, h.Text(" "), h.Small(h.Class("bad"), h.Text(of.Wrong))), h.Given(of.Note, h.Text(" "), h.Small(h.Class("soft"), h.Text(of.Note))))
		}), h.Td(h.Class(f.Class), f.Difference.html())), h.NL}
}

// figuresWith returns the numbers of both runs, in the order of the page's head.
func (a *reader) figuresWith(b *reader) []figures {
	var list []figures
	at := 0
	for i, all := range [2][]figure{a.figures(), b.figures()} {
		at = 0
		for _, f := range all {
			same := func(o figures) bool { return o.Label == f.Label && o.Of[1-i].Value.unit == f.Value.unit }
			if n := slices.IndexFunc(list, same); i == 1 && n >= 0 {
				at = n
			} else {
				list = slices.Insert(list, at, figures{Label: f.Label})
			}
			list[at].Of[i] = f
			at++
		}
	}
	list = slices.DeleteFunc(list, func(f figures) bool { return !f.Of[0].Value.known() && !f.Of[1].Value.known() })
	for i := range list {
		f := &list[i]
		f.Difference = between(f.Of[0].Value, f.Of[1].Value)
		order := f.Difference.Order
		if only := onlyIn(f.Of[0].Value, f.Of[1].Value); only != "" {
			f.Difference.Words = only
			if order = 1; f.Of[0].Value.known() {
				order = -1
			}
		}
		if f.Label == "failures" { // more of them is plainly worse
			f.Class = map[int]string{1: "bad", -1: "good"}[order]
		}
	}
	return list
}

// strips holds the strips of a session in both runs, on one axis: matching turns begin
// at the same place.
type strips struct {
	Label string
	Name  string // name of the session, if there are several
	Of    [2]*strip
}

func (s strips) html() h.Node {
	return h.Group{h.El("figure", h.Class("strip pair"), s.Of[0].caption(s.Name, s.Label), h.NL,
		h.Each(s.Of[:], func(of *strip) h.Node { return h.Group{h.Div(letter(of.Run), of.bars()), h.NL} })), h.NL}
}

// stripsWith returns the strips of the sessions, matched by their order in each run.
func (a *reader) stripsWith(b *reader) []strips {
	var list []strips
	var turns [2][][]*turn
	for i, r := range [2]*reader{a, b} {
		for _, s := range r.sessions() {
			if of := r.timedTurns(s); len(of) > 0 {
				turns[i] = append(turns[i], of)
			}
		}
	}
	n := max(len(turns[0]), len(turns[1]))
	for i := range n {
		var of [2][]*turn
		for side := range of {
			if i < len(turns[side]) {
				of[side] = turns[side][i]
			}
		}
		one := a.strips(b, of)
		if n > 1 {
			one.Name = fmt.Sprint("Session ", i+1)
		}
		list = append(list, one)
	}
	return list
}

// timedTurns returns a session's turns with a known time.
func (r *reader) timedTurns(s *trace.Session) []*turn {
	of := r.source().Session(s)
	few := len(s.Conversation.Turns) <= mostRows
	var list []*turn
	for _, t := range s.Conversation.Turns {
		if t.Untimed {
			continue
		}
		one := r.turn(of, t, r.frame(t.Run, t.Prompt).ID())
		if few {
			var items []item // a strip shows none of what they tell
			for _, e := range of.Entities(t.Number) {
				items = append(items, item{Frame: r.frame(e.Run, e.First), of: e})
			}
			one.all = r.lanes(one.ID, of.Turn(t), items).Rows
		}
		list = append(list, one)
	}
	return list
}

// strips returns the strips of a session. The nth turns of both runs share a part of the
// axis, sized for the longer one.
func (a *reader) strips(b *reader, turns [2][]*turn) strips {
	var parts []steps.Span
	var took [2]time.Duration
	readers := [2]*reader{a, b}
	for side, r := range readers {
		for i, t := range turns[side] {
			whole := r.span(t.of)
			took[side] += whole.To - whole.From
			if i == len(parts) {
				parts = append(parts, steps.Span{Run: i})
			}
			parts[i].To = max(parts[i].To, whole.To-whole.From)
		}
	}
	one := strips{Label: "Turn above turn, on one scale: "}
	stacks := len(parts) > mostRows
	x := newAxis(parts, 0)
	for side, r := range readers {
		if side == 1 {
			one.Label += "; "
		}
		if one.Label += r.side + " " + termtext.Counted(len(turns[side]), "turn"); took[side] > 0 {
			one.Label += " in " + termtext.Duration(took[side])
		}
		s := &strip{Run: r.side, Stacks: stacks}
		for i, t := range turns[side] {
			whole := r.span(t.of)
			e := r.entry(t, t.ID)
			s.Turns = append(s.Turns, e.on(x, stacks, func(was steps.Span) steps.Span {
				return steps.Span{Run: i, From: was.From - whole.From, To: was.To - whole.From}
			}))
		}
		one.Of[side] = s
	}
	one.Of[1].Gaps = x.numbers()
	return one
}

// numbers returns the numbers of the axis's parts, where they fit.
func (a *axis) numbers() []tick {
	var list []tick
	for i, p := range a.parts {
		switch {
		case i == 0:
			list = append(list, tick{X: percent(p.x), Anchor: "start", Text: "turn 1"})
		case p.width >= 2.5 && p.x >= 5:
			list = append(list, tick{X: percent(p.x), Anchor: "start", Text: fmt.Sprint(i + 1)})
		}
	}
	return list
}

// ruleFindings holds both runs' findings for one rule.
type ruleFindings struct {
	finding
	Of [2]*finding // nil for a run without any
}

// ruleTable returns a table of findings in either run.
func ruleTable(list []ruleFindings) h.Node {
	return h.Group{h.Table(h.Class("numbers"), tableHead("rule", "who", "what", "A", "B"), h.TBody(h.NL, h.Each(list, func(f ruleFindings) h.Node {
		return h.Group{h.Tr(f.rule(""), h.Each(f.Of[:], (*finding).places)), h.NL}
	}))), h.NL}
}

// places returns the cell about one run.
func (f *finding) places() h.Node {
	if f == nil {
		return h.Td(span("soft", "–"))
	}
	return h.Td(h.Text(fmt.Sprintf("×%d", f.Count)),
		h.Each(f.Frames, func(at frameRef) h.Node { return h.Group{h.Text(" "), h.A(at.link(), h.Text(at.String()))} }),
		h.Given(f.More, h.Text(" "), span("soft", fmt.Sprintf("and %d more", f.More))))
}

// findingsWith returns what was found in only one run, and what was found in both, each
// worst first.
func (a *reader) findingsWith(b *reader) (one, both []ruleFindings) {
	var all []ruleFindings
	for i, r := range [2]*reader{a, b} {
		violations, rest := r.findings()
		for _, f := range slices.Concat(violations, rest) {
			n := slices.IndexFunc(all, func(o ruleFindings) bool {
				return o.Rule == f.Rule && o.Fault == f.Fault && o.Strength == f.Strength
			})
			if n < 0 {
				n = len(all)
				all = append(all, ruleFindings{finding: *f})
			}
			all[n].Of[i] = f
		}
	}
	slices.SortStableFunc(all, func(a, b ruleFindings) int { return cmp.Compare(b.Class, a.Class) })
	for _, f := range all {
		if f.Of[0] != nil && f.Of[1] != nil {
			both = append(both, f)
		} else {
			one = append(one, f)
		}
	}
	return one, both
}
