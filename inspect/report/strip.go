package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace/steps"
)

// A strip shows all turns of a session on one axis that cuts out the time between them.
type strip struct {
	Name   string // name of the session, if strips of several are drawn together
	Label  string // in words
	Run    string // A or B, if there are two runs
	Turns  []stripTurn
	Gaps   []tick // how long the idle times were
	Starts bool   // a start-up is among the turns
	Stacks bool   // each turn is one bar of its shares, because there are many
}

func (s *strip) html() h.Node {
	if s == nil {
		return nil
	}
	return h.Group{h.El("figure", h.Class("strip"), s.caption(s.Name, s.Label), h.NL, s.bars()), h.NL}
}

// caption returns a name, a label and what the colours mean.
func (s *strip) caption(name, label string) h.Node {
	colours := h.If(s.Starts, `<i class="key start"></i>start-up`) + `<i class="key thinks"></i>thinks<i class="key says"></i>says<i class="key tool"></i>tools<i class="key waits"></i>waits for you`
	if s.Stacks {
		colours = `<i class="key waits"></i>you<i class="key client"></i>client<i class="key tool"></i>tools<i class="key says"></i>agent`
	}
	return h.El("figcaption", h.Class("meta"), h.Given(name, h.B(h.Text(name)), h.Text(" ")), h.Text(label), h.Span(h.Class("legend"), h.Raw(colours)))
}

// bars returns the drawing.
func (s *strip) bars() h.Node {
	label, height := "All turns in time", "56"
	if s.Run != "" {
		label = "Turns of " + s.Run + " in time"
	}
	if len(s.Gaps) > 0 {
		height = "74"
	}
	return h.SVG(h.Attr("role", "group"), h.Aria("label", label), h.Width("100%"), h.Height(height),
		h.Each(s.Turns, func(t stripTurn) h.Node {
			return h.Group{h.A(h.Link(t.Link), h.El("title", h.Text(t.Title)), t.Back.html(h.Height("56"), h.Attr("rx", "3")), h.Each(t.Bars, stripBar.html)), h.NL}
		}),
		h.Each(s.Gaps, func(t tick) h.Node { return t.html("70", h.Given(t.Many, h.Class("many"))) }))
}

type stripTurn struct {
	Link  string // an id
	Title string
	Back  rect
	Bars  []stripBar
}

type stripBar struct {
	rect
	Y, Height string
}

func (b stripBar) html() h.Node {
	return h.Shape("rect", h.Class(b.Class), h.Attr("x", b.X), h.Attr("y", b.Y), h.Width(b.Width), h.Height(b.Height), h.Attr("rx", "1"))
}

// mostRows is the largest number of turns for which a strip has rows by kind of activity.
const mostRows = 60

// stripRows are the classes of the rows.
var stripRows = []string{"thinks", "says", "tool", "waits"}

// overview gives each session its strip. It returns the strips of sessions that overlap
// in time, which are drawn together.
func (r *reader) overview(list []*chapter) (together []*strip) {
	var turns, all []steps.Span
	var apart time.Duration // the time of all turns, if those of different sessions do not overlap
	for _, c := range list {
		spans := c.spans(r)
		turns, all = append(turns, spans...), append(append(all, spans...), spansOf(c.starts)...)
		apart += steps.Length(steps.Join(spans, 0))
	}
	beside := steps.Length(steps.Join(turns, 0)) < apart
	axis := newAxis(all, 0)
	for _, c := range list {
		spans := c.spans(r)
		switch {
		case beside && len(spans) > 0:
			one := c.strip(axis)
			one.Name = c.Name
			one.Label = fmt.Sprintf("%s in %s", termtext.Counted(len(spans), "turn"), termtext.Duration(steps.Length(steps.Join(spans, 0))))
			together = append(together, one)
		case len(spans) > 1: // a single turn has its waterfall
			a := newAxis(append(spansOf(c.starts), spans...), 0)
			c.Strip = c.strip(a)
			c.Strip.Label = fmt.Sprintf("%s in %s, idle time between them cut out", termtext.Counted(len(spans), "turn"), termtext.Duration(steps.Length(steps.Join(spans, 0))))
			c.Strip.Gaps = a.gaps()
		}
	}
	if n := len(together); n > 0 {
		together[n-1].Gaps = axis.gaps()
	}
	return together
}

// spans returns the known time spans of a session's turns.
func (c *chapter) spans(r *reader) []steps.Span {
	var list []steps.Span
	for _, t := range c.turns {
		if !t.Untimed {
			list = append(list, r.span(t))
		}
	}
	return list
}

// strip returns the strip of a session on an axis that has room for it.
func (c *chapter) strip(a *axis) *strip {
	one := &strip{Stacks: len(c.turns) > mostRows}
	for i := range c.turns {
		if s := c.starts[i]; s != nil {
			one.Turns, one.Starts = append(one.Turns, s.drawn(a)), true
		}
	}
	for _, e := range c.Links {
		if !e.timed {
			continue
		}
		one.Turns = append(one.Turns, e.on(a, one.Stacks, func(s steps.Span) steps.Span { return s }))
	}
	return one
}

// on draws the turn on an axis; place maps times to those of the axis.
func (e *entry) on(a *axis, stacks bool, place func(steps.Span) steps.Span) stripTurn {
	one := stripTurn{Link: e.Link, Back: a.rect(place(e.span), "back")}
	one.Title = fmt.Sprintf("turn %s, %s, %s: %s", e.Name, e.State.Word, e.Took, termtext.Brief(e.Text, 80))
	if stacks {
		if one.Bars = stack(a, place(e.span), e.shares); e.State.Class == "bad" {
			one.Bars = append(one.Bars, stripBar{a.rect(place(e.span), "bad"), "50", "6"})
		}
	} else {
		one.Bars = stepBars(a, e.all, place)
	}
	return one
}

// stepBars returns bars for what happened in a turn, each in the row for its kind.
func stepBars(a *axis, lanes []*lane, place func(steps.Span) steps.Span) []stripBar {
	var bars []stripBar
	add := func(s steps.Span, class string) {
		if row := slices.Index(stripRows, strings.TrimSuffix(strings.TrimSuffix(class, " bad"), " slow")); row >= 0 {
			bars = append(bars, stripBar{a.rect(place(s), class), fmt.Sprint(4 + 12*row), "10"})
		}
	}
	for _, l := range lanes {
		add(l.span, l.class)
		for _, s := range l.asks {
			add(s, "waits")
		}
		bars = append(bars, stepBars(a, l.Below, place)...)
	}
	return bars
}

// stack returns the shares of a turn, stacked.
func stack(a *axis, whole steps.Span, shares []share) []stripBar {
	var bars []stripBar
	y := 4.0
	for _, s := range shares {
		if s.Bar == nil {
			continue
		}
		height := 46 * s.part / 100
		bars = append(bars, stripBar{a.rect(whole, s.Class), fmt.Sprintf("%.1f", y), fmt.Sprintf("%.1f", height)})
		y += height
	}
	return bars
}

// gaps returns the lengths of the idle times between parts, if over a second and if there
// is room to show them.
func (a *axis) gaps() []tick {
	var list []tick
	last, lastOfFew := -100.0, -100.0
	for i := 1; i < len(a.parts); i++ {
		before, p := &a.parts[i-1], &a.parts[i]
		text := "next tape"
		if before.Run == p.Run {
			idle := p.From - before.To
			if idle <= time.Second {
				continue
			}
			text = "idle " + termtext.Duration(idle)
		}
		if p.x-last < 9 || p.x < 4 || p.x > 96 {
			continue
		}
		last = p.x
		one := tick{X: percent(p.x), Anchor: "middle", Text: text}
		if one.Many = p.x-lastOfFew < 26 || p.x < 10 || p.x > 90; !one.Many {
			lastOfFew = p.x
		}
		list = append(list, one)
	}
	return list
}
