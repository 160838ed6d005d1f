package report

import (
	"cmp"
	"fmt"
	"strings"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/record/termtext"
)

// A gist says how the tapes came out, in the words and the order of acptap summary.
type gist struct {
	Outcome  status
	Open     string // what is open, though the tapes came out well
	Running  bool
	Asked    []string   // lines that the title does not have; of a single turn, as is Answered
	Answered []string   // lines
	Left     []string   // what the agent says that is left
	Says     string     // answered, or the word for an answer that has no end
	Turns    []exchange // if there are several: some of them
	Others   string     // how many others
	Called   []called   // without turns: calls of tools
	Did, Ran string
	Changed  []edited
	Changes  string // how many other files were changed
	Time     timing
	Failed   []failure // those that are told one by one
	Together []together
	More     string // how much else failed
	Nothing  bool   // nothing failed, and acptap check finds nothing but notes
	Rejected []remark
	Stopped  []remark
	Slow     []remark
}

// A remark is a sentence about a place on the page, and what follows it.
type remark struct {
	Text, Link, Frame, More string
	Stderr                  *remark // what the agent wrote to stderr before; nil: nothing
}

// A together tells several failures in a few words each.
type together struct {
	Text string
	List []remark
}

// An edited says how a file was changed.
type edited struct {
	File, Link, Count string
	Lines             []string
}

// A failure is something that failed, and what came of it.
type failure struct {
	remark
	Why, Sign, Word, Then, After string
	Class                        string
}

func (r *reader) remark(one summary.Remark) remark {
	return remark{Text: one.Text, Link: r.place(one.Frame), Frame: one.Frame.Label, More: one.More}
}

// Limits on the lines of what was said.
const (
	askedLines  = 4
	answerLines = 6
)

// closing returns what the last turn was answered, in so many lines.
func closing(text string) string {
	if termtext.Width(text) <= answerLines*rowColumns {
		return text
	}
	return strings.Join(summary.Closing(text, answerLines, rowColumns), " ")
}

func (r *reader) gist(title string) *gist {
	s := r.sum
	how := s.Verdict()
	g := &gist{Outcome: status{how.Text, outcomeClasses[how.Style]}, Open: s.OpenText(), Left: s.LeftTexts(), Running: r.live()}
	g.Did, g.Ran, g.Time, g.Others = s.Did(), s.RanText(), r.timing(&s), cmp.Or(s.MoreTurns(), s.MoreCalls())
	edits, others := s.Edits()
	for _, one := range edits {
		g.Changed = append(g.Changed, edited{one.File, r.place(one.Frame), one.Count(), one.Text()})
	}
	if others > 0 {
		g.Changes = "and " + termtext.Counted(others, "more file")
	}
	g.Outcome.Word = termtext.Spaced(g.Outcome.Word, s.Where())
	for i, one := range s.Exchanges {
		if len(s.Exchanges) > 1 {
			row := exchange{Session: one.Session, Turn: one.Turn, Link: r.place(one.Frame), State: outcomeStatus(one.Outcome), Answered: one.Came()}
			if row.Last = i+1 == len(s.Exchanges) || one.Session != s.Exchanges[i+1].Session; row.Last {
				row.Answered = closing(row.Answered)
			}
			if i > 0 || !says(title, termtext.FirstLines(one.Asked, askedLines, 0)) {
				row.Asked = summary.OneLine(one.Asked)
			}
			if i == 0 || one.Session != s.Exchanges[i-1].Session {
				row.Part = s.PartText(one.Session)
			} else if one.Asked != "" && one.Asked == s.Exchanges[i-1].Asked {
				row.Asked = "the same again"
			}
			g.Turns = append(g.Turns, row)
			continue
		}
		if g.Asked = termtext.FirstLines(one.Asked, askedLines, 0); says(title, g.Asked) {
			g.Asked = nil
		}
		g.Answered, g.Says = termtext.FirstLines(one.Answered, answerLines, 0), one.Label()
		if whole := summary.OneLine(one.Answered); closing(whole) != whole {
			g.Answered = []string{closing(whole)}
		}
		if one.Did != "" {
			g.Answered = []string{closing(one.Came())}
		}
	}
	for _, one := range s.CallRows() {
		mark := one.Mark()
		state := status{strings.TrimSpace(mark.Text), outcomeClasses[mark.Style]}
		g.Called = append(g.Called, called{one.Name(), one.InputIn(inputColumns), one.ResultIn(resultColumns), r.place(one.Frame), state, false})
		last := &g.Called[len(g.Called)-1]
		last.Long = termtext.Width(last.Tool)+termtext.Width(last.Input)+termtext.Width(last.Result) > rowColumns-6
	}
	g.Nothing = s.Frames > 0 && s.Broken == 0 && len(s.Failures.Worst) == 0
	each, several := s.Told(true)
	for _, f := range each {
		what, why, at := f.Said()
		if f.Past() && len(each) > fewFailures {
			what, why = f.Brief(shortColumns)
		}
		one := failure{remark: r.remark(summary.Remark{Text: what, Frame: at}), Why: why, Sign: f.Sign(), Word: f.Word(), Then: f.Repeated(), After: f.Aftermath(true), Class: outcomeClasses[f.MarkStyle()]}
		if q := f.Stderr; q != nil {
			said := r.remark(summary.Remark{Text: q.Text(), Frame: q.Frame})
			one.Stderr = &said
		}
		g.Failed = append(g.Failed, one)
	}
	for _, t := range several {
		one := together{Text: t.Text}
		for _, short := range summary.Shorts(t.Failures) {
			one.List = append(one.List, r.remark(short))
		}
		g.Together = append(g.Together, one)
	}
	g.More = s.MoreFailures(s.Failures.Worst)
	if why := s.Unprompted(); why != "" {
		g.Asked = []string{why}
	}
	for _, one := range s.RejectedTexts() {
		g.Rejected = append(g.Rejected, r.remark(one))
	}
	for _, one := range s.StoppedTexts() {
		g.Stopped = append(g.Stopped, r.remark(one))
	}
	for _, one := range s.SlowTexts() {
		g.Slow = append(g.Slow, r.remark(one))
	}
	return g
}

// html returns the gist, with the time and figures beside its rows.
func (one *gist) html(figures h.Node) h.Node {
	did := h.Group{gistGroup("did", h.Text(one.Did)), h.Given(one.Ran, gistRow("ran", h.Text(one.Ran)))}
	return h.Group{
		h.P(h.Class("came-out"), span("chip big "+one.Outcome.Class, one.Outcome.Word), h.Given(one.Open, h.Text(" "), span("chip big warn", one.Open)), h.Given(one.Running, h.Raw(` <span class="running"></span>`))), h.NL,
		h.Given(len(one.Left), h.P(h.Class("remains"), span("warn", "! left: "), joined(one.Left, " ", func(text string) h.Node { return bdi(h.Text(text)) })), h.NL),
		h.Div(h.Class("over"), h.El("dl", h.Class("gist", h.If(len(one.Turns) > denseTurns, "dense"), h.If(len(one.Turns) <= fewTurns, "few")),
			h.Given(len(one.Asked), gistRow("asked", h.Class("three"), h.Each(one.Asked, paragraph))),
			h.Given(len(one.Called), one.failed()),
			h.Given(len(one.Answered), gistRow(one.Says, h.Each(one.Answered, paragraph))),
			one.calls(), h.Each(one.Turns, exchange.html),
			h.Given(one.Others, gistRow("", h.Class("soft"), h.Text(one.Others))),
			h.Given(len(one.Called) == 0, one.failed()),
			h.Given(len(one.Rejected), gistRow("rejected", h.Text("by the user: "), joined(one.Rejected, ", ", remark.html))),
			h.Given(len(one.Stopped), gistRow("stopped", h.Text("by the user: "), joined(one.Stopped, ", ", remark.html))),
			h.Given(len(one.Slow), gistRow("slow", h.Class("warn"), joined(one.Slow, " · ", remark.html))),
			h.Given(one.Did != "" && len(one.Called) == 0, did),
			h.Given(len(one.Changed), gistRow("changed", h.Ul(h.Class("changed"), h.Each(one.Changed, edited.html), h.Given(one.Changes, h.Li(h.Class("soft"), h.Text(one.Changes))))))), h.NL,
			h.Div(h.Class("side"), one.Time.html(), figures)), h.NL,
	}
}

func (c edited) html() h.Node {
	return h.Li(h.Class("edited"), h.A(h.Link(c.Link), h.Text(c.File)), span("soft", c.Count), h.Div(h.Each(c.Lines, func(line string) h.Node {
		return h.P(h.Class("mono", h.If(strings.HasPrefix(line, "+"), "good"), h.If(strings.HasPrefix(line, "-"), "bad")), h.Auto(), h.Text(line))
	})))
}

// gistRow returns a row of the gist.
func gistRow(word string, about ...h.Node) h.Node {
	return h.Group{h.Div(h.El("dt", h.Text(word)), h.El("dd", about...)), h.NL}
}

// gistGroup returns the first row of a group.
func gistGroup(word string, about ...h.Node) h.Node {
	return h.Group{h.Div(h.Class("group"), h.El("dt", h.Text(word)), h.El("dd", about...)), h.NL}
}

func paragraph(text string) h.Node { return h.P(h.Auto(), h.Text(text)) }

// calls returns the rows of calls.
func (one *gist) calls() (rows h.Group) {
	for i, c := range one.Called {
		rows = append(rows, gistRow(h.If(i == 0, "called"), h.Class("one", h.If(c.Long, "long")), span(c.State.Class, c.State.Word), h.A(h.Link(c.Link), h.Text(c.Tool)),
			h.Given(c.Input, h.Text(" "), bdi(h.Class("mono"), h.Text(c.Input))),
			h.Given(c.Result, h.Text(" "), h.Span(h.Class("came"), h.Raw(`<span class="soft">→</span> `), bdi(h.Given(c.State.Class == "bad", h.Class("bad")), h.Text(c.Result))))))
	}
	return rows
}

// bdi returns text that keeps its direction to itself.
func bdi(children ...h.Node) h.Node { return h.El("bdi", children...) }

func (e exchange) html() h.Node {
	return h.Group{
		h.Given(e.Part, gistRow(fmt.Sprint("session ", e.Session), h.B(h.Text(e.Part)))),
		h.Div(h.El("dt", h.A(h.Link(e.Link), h.Text(fmt.Sprintf("turn %d", e.Turn)))), h.El("dd",
			h.Given(e.Asked, h.P(h.Class("three"), h.Auto(), h.El("strong", h.Text(e.Asked)))),
			h.P(h.Given(!e.Last, h.Class("two")), h.Auto(), bdi(h.Class(e.State.Class), h.Text(e.State.Word)), h.Given(e.Answered, h.Text(" · "+e.Answered))))), h.NL,
	}
}

// failed returns what failed.
func (one *gist) failed() h.Node {
	if len(one.Failed)+len(one.Together) == 0 {
		return h.Given(one.Nothing, gistGroup("failed", h.Text("nothing")))
	}
	return gistGroup("failed", h.Ul(
		h.Each(one.Failed, failure.html),
		h.Each(one.Together, together.html),
		h.Given(one.More, h.Li(h.Text(one.More)))))
}

func (t together) html() h.Node {
	short := func(one remark) h.Node {
		return h.Group{h.A(h.Link(one.Link), h.Title("frame "+one.Frame), h.Text(one.Text)), span("soft wraps", one.More)}
	}
	return h.Li(h.Text(t.Text), joined(t.List, ", ", short))
}

func (f failure) html() h.Node {
	var stderr h.Node
	if f.Stderr != nil {
		stderr = h.Group{h.Text(", "), f.Stderr.told()}
	}
	return h.Li(h.Class(f.Class, "fated"), span("fate", termtext.Spaced(f.Sign, f.Word)), h.Text(" "), h.Div(h.B(h.Text(f.Text)), h.Text(f.Why+" "), f.framed(), stderr, h.Text(f.Then), h.Given(f.After, h.P(h.Class("soft two"), h.Auto(), h.Text(f.After)))))
}

// html returns a remark that is linked.
func (one remark) html() h.Node {
	return h.Group{h.A(h.Link(one.Link), h.Text(one.Text)), h.Text(" "), span("soft", "(frame "+one.Frame+")"+one.More)}
}

// joined draws the elements of a list with text between them.
func joined[T any](list []T, between string, draw func(T) h.Node) (all h.Group) {
	for i, one := range list {
		all = append(all, h.Given(i, h.Text(between)), draw(one))
	}
	return all
}

// told returns a remark of which the frame is linked.
func (one remark) told() h.Node {
	return h.Group{h.Text(one.Text + " "), one.framed()}
}

// framed returns the number of the frame, which is linked.
func (one remark) framed() h.Node {
	return h.Span(h.Class("soft"), h.Text("("), h.A(h.Link(one.Link), h.Text("frame "+one.Frame)), h.Text(")"+one.More))
}

// Limits of a screen of 900 pixels.
const (
	rowColumns    = 105
	titleColumns  = 65
	inputColumns  = 104
	resultColumns = 130
	shortColumns  = 100 // of a failure after which the work went on
	denseTurns    = 5   // more of them have fewer rows each
	fewFailures   = 4   // these are told in full
	fewTurns      = 3   // of these each has more
)

// An exchange is a turn in a few lines. It has no Asked if the title of the page has it.
type exchange struct {
	Part          string // of the first one in each of several sessions: what is known of the session
	Session, Turn int
	Link          string
	State         status
	Asked         string
	Answered      string
	Last          bool // of its session
}

// A called is the call of a tool in one line.
type called struct {
	Tool, Input, Result, Link string
	State                     status
	Long                      bool // it takes two lines
}

// says reports whether a title tells all that is to be told of the first prompt.
func says(title string, asked []string) bool {
	if len(asked) != 1 {
		return false
	}
	title, line := strings.TrimSuffix(title, "…"), strings.TrimSuffix(asked[0], "…")
	return strings.HasPrefix(line, title) || strings.HasPrefix(title, line)
}

// place returns the id of the element that tells about a frame: a turn or a step of the
// story, or else its row in the list of frames.
func (r *reader) place(at summary.Frame) string {
	frame := r.frame(at.Run, at.Seq)
	return cmp.Or(r.places[frame], "frame-"+frame.String())
}

// mark notes where a turn and its steps are told.
func (r *reader) mark(one *turn) {
	t := one.of
	r.places[r.frame(t.Run, t.Prompt)], r.places[r.frame(t.Run, t.End)] = one.ID, one.ID
	var steps func(rows []*lane)
	steps = func(rows []*lane) {
		for _, l := range rows {
			if l.Item != nil && l.Item.of != nil {
				e := l.Item.of
				r.places[r.frame(e.Run, e.First)], r.places[r.frame(e.Run, e.Last)] = l.Item.ID, l.Item.ID
				if e.ToolCall != nil {
					for _, p := range e.ToolCall.Permissions {
						r.places[r.frame(e.Run, p.Response)] = l.Item.ID
					}
				}
			}
			steps(l.Below)
		}
	}
	steps(one.all)
}
