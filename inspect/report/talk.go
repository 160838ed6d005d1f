package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/frames/frametext"
	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// An item is one step of a conversation.
type item struct {
	ID    string
	Kind  string // says how it is shown
	At    string // time since the prompt
	Frame frameRef

	Parts []content
	Title string
	Text  string
	Class string
	Long  bool // a prompt that is cut at first
	Steps []planStep
	Tool  *toolCall
	Asked *permission
	Rows  []*lane // of a replayed history
	Calls []nestedCall
	Found string // how it breaks a rule
	Depth int    // how many items it is below

	of *trace.Entity
}

// prompt returns what the user asked.
func (i item) prompt() h.Node {
	return h.Group{h.Div(h.Class("prompt"), h.ID(i.ID), i.Frame.data(),
		i.box(h.A(h.Class("who"), h.Link(i.ID), h.Title("frame "+i.Frame.String()), h.Text("You"))), i.remarks()), h.NL}
}

// box returns the parts of a prompt.
func (i item) box(head h.Node) h.Node {
	return h.Group{h.Div(h.Class("box", h.If(i.Long, "long")), head, contents(i.Parts)), h.Given(i.Long, h.Raw(more))}
}

// more is the button below what is cut at first.
const more = `<button class="more script" type="button">show all</button>`

// html returns what was said or done, except with a tool.
func (i *item) html() h.Node {
	var about h.Node
	switch i.Kind {
	case "prompt":
		about = i.box(nil)
	case "agent":
		about = h.Group{textIn(h.Span, "who", i.Title), contents(i.Parts)}
	case "plan":
		about = h.Group{textIn(h.P, "soft", i.Text), h.Given(len(i.Steps), h.Ul(h.Class("steps"), h.Each(i.Steps, planStep.html))), contents(i.Parts)}
	case "permission":
		about = i.Asked.html()
	case "replayed":
		about = h.Details(h.ID(i.ID+"-rows"), h.Summary(h.Text(i.Title)), h.Each(i.Rows, (*lane).html))
	case "other":
		about = h.P(h.Class("soft"), h.Text(i.Title+" "), h.A(i.Frame.link(), h.Text("frame "+i.Frame.String())))
	default:
		about = h.Group{h.Given(i.Title, h.P(h.Class(i.Class), h.B(h.Text(i.Title)))), textIn(h.P, i.Class, i.Text), contents(i.Parts)}
	}
	return h.Div(h.Class("body"), about, i.remarks())
}

// remarks returns what is wrong with the item, and the calls that it led to.
func (i *item) remarks() h.Node {
	return h.Group{textIn(h.P, "found", i.Found), h.Given(len(i.Calls), h.Ul(h.Class("calls"), h.Each(i.Calls, nestedCall.html)))}
}

// tool returns what was done with a tool.
func (i *item) tool() h.Node {
	t := i.Tool
	return h.Div(h.Class("inner"),
		h.P(h.Class("meta small"), h.A(i.Frame.link(), h.Text("frame "+i.Frame.String())), h.Given(i.At, h.Text(" at "+i.At)),
			h.Each(t.Locations, func(where string) h.Node { return span("mono line", where) })),
		h.Each(t.Asked, (*permission).html),
		h.Given(t.Input, h.P(h.Class("label"), h.Text("input")), output(t.Input)),
		contents(t.Parts), textIn(h.P, "soft", t.Missing),
		h.Given(t.Empty, h.P(h.Class("soft"), h.Text("It shows nothing."))), i.remarks())
}

// A planStep is a step of a plan.
type planStep struct{ Sign, Word, Text string }

func (s planStep) html() h.Node {
	return h.Li(h.Span(h.Title(s.Word), h.Text(s.Sign)), h.Text(" "+s.Text))
}

// A toolCall is what an agent did with a tool.
type toolCall struct {
	Kind      toolKind
	Title     string
	State     status
	Took      string
	Open      bool // initially unfolded
	Locations []string
	Asked     []*permission
	Input     string
	Parts     []content
	Missing   string // why nothing is known about the server's side of the call
	Empty     bool   // there is nothing to show
}

// A permission is what the user was asked, and what they chose.
type permission struct {
	Title, Text, Command string
	Options              []option
	Waited               string
	Outcome              status
}

type option struct {
	Name   string
	Chosen bool
}

func (p *permission) html() h.Node {
	return h.Div(h.Class("asked"),
		h.Given(p.Title, h.P(h.B(h.Text(p.Title)))), h.Given(p.Text, h.P(h.Text(p.Text))), textIn(h.Pre, "output", p.Command),
		h.P(span("soft", "asked"), h.Text(" "), h.Each(p.Options, option.html),
			h.Given(p.Outcome.Word, p.Outcome.chip(), h.Text(" ")), span("soft", p.Waited)))
}

func (o option) html() h.Node {
	return h.Group{h.Span(h.Class("pill", h.If(o.Chosen, "chosen")), h.Text(h.If(o.Chosen, "✓ ")+o.Name)), h.Text(" ")}
}

// A nestedCall is a call to a server that a tool call led to.
type nestedCall struct {
	Frame frameRef
	Text  string
	Wrong bool
}

func (c nestedCall) html() h.Node {
	return h.Li(h.A(c.Frame.link(), h.Title("frame "+c.Frame.String()), h.Given(c.Wrong, h.Class("bad")), h.Text(c.Text)))
}

// items returns what was said and done in a turn; t is nil before the first one.
func (r *reader) items(of *steps.Session, t *trace.Turn, entities []*trace.Entity) []item {
	var list []item
	histories := map[int][]item{} // by place in list
	repeats := -1                 // place of the history that goes on
	for _, e := range trace.InPlace(entities) {
		if of.Owned(e) {
			continue
		}
		one, ok := r.item(of.Session(), t, e)
		switch {
		case !ok:
		case e.Replayed:
			if repeats < 0 {
				repeats = len(list)
				list = append(list, item{Kind: "replayed", ID: "h" + one.ID, Frame: one.Frame})
			}
			histories[repeats] = append(histories[repeats], one)
		default:
			repeats = -1
			list = append(list, one)
		}
	}
	for i, history := range histories {
		list[i].Title = termtext.Counted(len(history), "step") + " of the history replayed at a load"
		list[i].Rows = itemLanes(history)
	}
	return list
}

// longPrompt is the minimum size in bytes of a prompt that is cut at first; a line counts
// as 80.
const longPrompt = 560

// item returns what the story says about an entity.
func (r *reader) item(s *trace.Session, t *trace.Turn, e *trace.Entity) (one item, ok bool) {
	one = item{Frame: r.frame(e.Run, e.First), of: e}
	one.ID, one.Depth = one.Frame.ID(), e.Depth()
	if !e.Untimed {
		one.At = since(t, e.Began)
	}
	if one.Found = r.foundIn(e.Run, e.First); one.Found == "" {
		one.Found = r.foundIn(e.Run, e.Last)
	}
	for _, c := range r.calls.Of(e) {
		one.Calls = append(one.Calls, nestedCall{r.serverFrame(c.Tape.ID, c.Request), c.Line().Text, c.Failed})
	}
	switch {
	case e.Message != nil:
		if e.Message.Blocks.Empty() {
			return one, false
		}
		one.Kind = map[trace.Role]string{trace.User: "prompt", trace.Thought: "thought"}[e.Message.Role]
		switch role := e.Message.Role; {
		case role == trace.Relayed:
			one.Title = s.Conversation.Correspondents(e)
		case role == trace.User && e.Above != nil:
			one.Kind, one.Title = "", "Task"
		case e.Above != nil:
			one.Title = "Subagent"
		}
		one.Kind = cmp.Or(one.Kind, "agent")
		one.Parts = r.blocks(e.Message.Blocks.All(), one.Frame)
		text := e.Message.Text()
		one.Long = len(text) > longPrompt || strings.Count(text, "\n") > longPrompt/80
	case e.ToolCall != nil:
		one.Kind, one.Tool = "tool", r.toolCall(s, t, e, one.Frame)
	case e.Plan != nil:
		one.Kind, one.Steps = "plan", planSteps(e.Plan)
		raw := wire.ValueOf(e.Plan.Raw)
		if text := cmp.Or(raw.Get("content").Text(), raw.Get("uri").Text()); text != "" {
			one.Parts = []content{{Kind: "prose", Prose: prose(cut(text))}}
		}
		if e.Plan.Removed {
			one.Text = "The plan was removed."
		}
	case e.Terminal != nil:
		one.Kind, one.Parts = "terminal", []content{terminal(e.Terminal)}
	case e.Compaction != nil:
		one.Kind, one.Text = "note", "The agent made its memory of the session smaller"
		if e.Compaction.Status != "" {
			one.Text += ": " + termtext.Brief(e.Compaction.Status, 30)
		}
		one.Parts = r.blocks(e.Compaction.Summary.All(), one.Frame)
	case e.Permission != nil:
		one.Kind, one.Asked = "permission", asked(e.Permission)
	case e.Subagent != nil:
		o := e.Subagent.Outcome()
		one.Kind, one.Title = "note", termtext.Dotted("Subagent", termtext.Brief(cmp.Or(e.Subagent.Title, e.Subagent.ID), 160), termtext.Line(o.String()))
		one.Text = cut(termtext.Text(e.Subagent.Description))
		if o.How.IsBad() {
			one.Class = "bad"
		}
	case e.Question != nil:
		one.Kind, one.Title, one.Text = "note", termtext.Brief(e.Question.Message, 1000), cut(termtext.Labelled(termtext.Text(e.Question.URL), "→ "+e.Question.Answer()))
	case e.Notice != nil:
		one.Kind, one.Title, one.Text = "note", termtext.Line(e.Notice.Title), cut(termtext.Text(e.Notice.Description))
		if e.Notice.Severity == "error" {
			one.Class = "bad"
		}
	case e.Change != nil:
		one.Kind, one.Title = "change", termtext.Brief(e.Change.String(), 200)
	case e.Other != nil:
		one.Kind, one.Title = "other", "update "+termtext.Brief(e.Other.Update, 60)
	default:
		return one, false
	}
	return one, true
}

func planSteps(p *trace.Plan) []planStep {
	signs := map[string]planStep{
		"in_progress": {Sign: "◐", Word: "in progress"}, "completed": {Sign: "●", Word: "done"}, "cancelled": {Sign: "–", Word: "cancelled"},
	}
	var list []planStep
	for _, e := range p.Entries() {
		one, ok := signs[e.Status]
		if !ok {
			one = planStep{Sign: "○", Word: "to do"}
		}
		one.Text = termtext.Brief(e.Content, 1000)
		list = append(list, one)
	}
	return list
}

// toolCall returns what the story says about a tool call. It is initially unfolded if it
// has a change, a question or a failure.
func (r *reader) toolCall(s *trace.Session, t *trace.Turn, e *trace.Entity, frame frameRef) *toolCall {
	c := e.ToolCall
	one := &toolCall{Kind: kindOf(c), Title: termtext.Brief(cmp.Or(c.Title, c.Name, c.ID), 160), State: toolState(c, t, r.live())}
	if first, _, _ := strings.Cut(one.Title, " "); strings.EqualFold(first, one.Kind.Word) {
		one.Kind.Word = "" // the title says it
	}
	if c.Finished() && !e.Untimed && e.First != e.Last {
		one.Took = termtext.Duration(e.Ended - e.Began)
	}
	for _, raw := range c.Locations {
		l := wire.ValueOf(raw)
		where := termtext.Line(l.Get("path").String())
		if line := l.Get("line"); line.IsNumber() {
			where += ":" + line.Raw()
		}
		one.Locations = append(one.Locations, where)
	}
	for _, p := range c.Permissions {
		one.Asked = append(one.Asked, asked(p))
	}
	changes := false
	for _, raw := range c.Content {
		part := r.toolContent(s, e, wire.ValueOf(raw), frame)
		changes = changes || part.Kind == "diff"
		one.Parts = append(one.Parts, part)
	}
	if len(c.Content) == 0 && c.RawOutput != nil {
		one.Parts = append(one.Parts, content{Kind: "output", Text: jsonText(c.RawOutput)})
	}
	if !changes && c.RawInput != nil {
		one.Input = jsonText(c.RawInput)
	}
	if m := r.calls.Missing(s.ID, e); m != 0 {
		one.Missing = m.String()
	}
	one.Empty = len(one.Parts)+len(one.Asked)+len(one.Locations) == 0 && one.Input == "" && one.Missing == ""
	one.Open = changes || one.State.Class == "bad"
	return one
}

// jsonText formats JSON for reading. A string becomes its text.
func jsonText(raw json.RawMessage) string {
	if v := wire.ValueOf(raw); v.IsString() {
		return cut(termtext.Text(v.Text()))
	}
	if len(raw) > maxOutput {
		return frametext.Indented(raw[:maxOutput]) + cutMark
	}
	return strings.TrimSuffix(frametext.Indented(raw), "\n")
}

func asked(p *trace.Permission) *permission {
	one := &permission{Title: termtext.Line(p.Title), Text: cut(termtext.Text(p.Description)), Command: cut(termtext.Text(p.Command))}
	for _, o := range p.Options {
		one.Options = append(one.Options, option{termtext.Brief(cmp.Or(o.Name, o.ID), 120), o.ID == p.Chosen && p.Outcome == "selected"})
	}
	switch {
	case p.Response == 0:
		one.Outcome = status{"no answer", "warn"}
		return one
	case p.Refused():
		one.Outcome = status{"rejected", "warn"}
	case p.Outcome == "failed":
		one.Outcome = status{"failed", "bad"}
	case p.Outcome == "cancelled":
		one.Outcome = status{"cancelled", "warn"}
	}
	if p.Answered >= p.Asked {
		one.Waited = fmt.Sprintf("waited %s", termtext.Duration(p.Answered-p.Asked))
	}
	return one
}
