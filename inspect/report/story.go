package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// A turn is the work on one prompt.
type turn struct {
	ID     string // of the element
	Number int
	State  status
	Wrong  string // how many tool calls failed
	Prompt string // on one line
	Took   string
	Meta   []string
	Error  string
	Cancel string // how long after the cancel the turn ended
	Shares []share
	Split  []share // Shares in words, unless the head has them
	Quiet  string  // the agent's longest silence
	Lanes  *lanes
	Asked  []item // the prompt
	Open   bool   // initially unfolded
	InPart bool   // a step failed
	Left   string // why no more is shown

	of     *trace.Turn
	all    []*lane // of Lanes, before any are folded
	markup string  // the whole turn, ready for the page
}

func (t *turn) html() h.Node {
	wrong := t.State.Class == "bad"
	return h.Group{h.Details(h.Class("turn", h.If(wrong, "wrong"), h.If(!wrong && t.InPart, "wrong-in-part")), h.ID(t.ID), h.Given(t.Open, h.Flag("open")),
		h.Summary(h.H3(h.Text(fmt.Sprintf("Turn %d", t.Number))), h.Text(" "), t.State.chip(), h.Text(" "),
			h.Span(h.Class("cut first"), h.Auto(), h.Text(t.Prompt)),
			h.Given(t.Wrong, span("meta bad", "✗ "+t.Wrong)), shareBar(t.Shares), span("meta took", t.Took)),
		h.Div(h.Class("told"), h.NL, h.Each(t.Asked, item.prompt), t.facts(), leftOut(t.Left),
			h.Given(len(t.Lanes.Rows), t.Lanes.html()))), h.NL}
}

// facts returns the line about the turn.
func (t *turn) facts() h.Node {
	if len(t.Meta)+len(t.Split) == 0 && t.Cancel == "" {
		return h.NL
	}
	return h.Group{h.P(h.Class("meta small"), h.Each(t.Meta, fact), h.Given(t.Cancel, fact(t.Cancel)),
		h.Given(len(t.Split), h.Span(split(t.Split), h.Given(t.Quiet, h.Text(" "), h.Span(h.Title("the longest time without a sign of the agent"), h.Text("(longest silence "+t.Quiet+")"))))),
		h.Text(" "), h.Span(h.A(h.Link(t.ID), h.Title("address of this turn"), h.Text("link")))), h.NL}
}

// Limits of a turn. If it exceeds them, the page omits the middle and says so.
const (
	maxEntities = 400
	entityCost  = 900 // approximate bytes of markup for an entity
)

// textSize returns the approximate number of bytes of an entity that the story shows.
func textSize(e *trace.Entity) (n int) {
	switch {
	case e.Message != nil:
		n = e.Message.Blocks.Size()
	case e.ToolCall != nil:
		for _, b := range e.ToolCall.Content {
			n += min(len(b), maxOutput)
		}
	case e.Terminal != nil:
		n = min(len(e.Terminal.Output), maxOutput)
	}
	return n
}

// turn returns the head of a turn.
func (r *reader) turn(of *steps.Session, t *trace.Turn, id string) *turn {
	one := &turn{ID: id, Number: t.Number, State: turnState(t), of: t}
	if one.Prompt = firstLine(of.Prompt(t.Number)); one.Prompt == "" {
		one.Prompt = termtext.Line(t.Title)
	}
	if n := t.Work.FailedTools + t.Work.BadExits; n > 0 {
		one.Wrong = termtext.Counted(n, "tool call") + " failed"
	}
	if t.Error != nil {
		one.Error = errorText(t.Error)
	}
	if took, ok := t.Confirmed(); ok {
		one.Cancel = "ended " + termtext.Duration(took) + " after the cancel"
	}
	if t.Untimed {
		one.Meta = append(one.Meta, "nobody knows when")
		return one
	}
	one.Took, one.Shares = moment(r.span(t).To-t.Began), shares(t.Spend(r.span(t).To))
	if r.alone {
		return one
	}
	switch {
	case t.Output == 0:
		one.Meta = append(one.Meta, "no output")
	default:
		one.Meta = append(one.Meta, "first output after "+moment(t.FirstOutput-t.Began))
	}
	if n := t.Usage.Tokens.Total; n.Given {
		one.Meta = append(one.Meta, termtext.Grouped(int64(n.N))+" tokens")
	}
	if c := t.Usage.Cost; c.Currency != "" && c.Amount > 0 {
		one.Meta = append(one.Meta, termtext.Amount(c.Amount)+" "+termtext.Piece(c.Currency))
	}
	one.Split = one.Shares
	if t.Pace.Silence > 0 {
		one.Quiet = termtext.Duration(t.Pace.Silence)
	}
	return one
}

// tell adds what happened in a turn, limited to most steps.
func (r *reader) tell(of *steps.Session, one *turn, most int) {
	entities := of.Entities(one.of.Number)
	if n := len(entities) - most; n > 1 {
		one.Left = fmt.Sprintf("%s steps in the middle of this turn are left out; acptap show --chat %s has them.", termtext.Grouped(int64(n)), r.in.Ref)
		entities = slices.Concat(entities[:most/2], entities[len(entities)-most/2:])
	}
	items := r.items(of, one.of, entities)
	prompts := 0
	for prompts < len(items) && items[prompts].Kind == "prompt" {
		prompts++
	}
	one.Asked, items = items[:prompts:prompts], items[prompts:]
	calmDown(items)
	if one.of.Untimed {
		one.Lanes = &lanes{Rows: itemLanes(items), Bare: true}
	} else {
		one.Lanes = r.lanes(one.ID, of.Turn(one.of), items)
	}
	if one.Error != "" && !strings.Contains(one.State.Word, one.Error) {
		frame := r.frame(one.of.Run, one.of.End)
		one.Lanes.Rows = append(one.Lanes.Rows, &lane{Kind: "error", Frame: frame, Label: one.Error, Took: "", Grave: true})
	}
	one.InPart = slices.ContainsFunc(one.Lanes.Rows, (*lane).isWrong)
	one.all, one.Lanes.Rows = one.Lanes.Rows, fold(one.Lanes.Rows)
}

// mostOpen is the number of tool calls in a turn beyond which changes are closed at first.
const mostOpen = 20

// calmDown closes the changes of a long turn.
func calmDown(items []item) {
	calls := 0
	for _, one := range items {
		if one.Tool != nil {
			calls++
		}
	}
	if calls <= mostOpen {
		return
	}
	for _, one := range items {
		if one.Tool != nil {
			one.Tool.Open = false
		}
	}
}

// since formats how long after a prompt something happened.
func since(t *trace.Turn, at time.Duration) string {
	if t == nil || t.Untimed {
		return ""
	}
	return moment(at - t.Began)
}
