package report

import (
	"sort"
	"strconv"
	"time"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/record/trace/steps"
)

// An axis maps times to 0 to 100 percent of a width. Time between its parts shrinks to a
// narrow gap.
type axis struct{ parts []axisPart }

type axisPart struct {
	steps.Span
	x, width float64 // percent
}

// newAxis returns an axis for spans. Spans that touch, or are less than idle apart,
// become one part.
func newAxis(spans []steps.Span, idle time.Duration) *axis {
	var a axis
	spans = steps.Join(spans, idle)
	busy := steps.Length(spans)
	for _, s := range spans {
		a.parts = append(a.parts, axisPart{Span: s})
	}
	gap := 0.0
	if n := len(a.parts); n > 1 {
		gap = min(1, 20/float64(n))
	}
	room, x := 100-gap*float64(len(a.parts)-1), 0.0
	for i := range a.parts {
		p := &a.parts[i]
		p.x, p.width = x, room/float64(len(a.parts))
		if busy > 0 {
			p.width = room * float64(p.To-p.From) / float64(busy)
		}
		x += p.width + gap
	}
	return &a
}

// at returns the position of a time, in percent.
func (a *axis) at(run int, t time.Duration) float64 {
	i := sort.Search(len(a.parts), func(i int) bool { p := &a.parts[i]; return p.Run > run || p.Run == run && p.From > t })
	if i == 0 {
		return 0
	}
	p := &a.parts[i-1] // the last one that begins no later
	switch {
	case p.Run < run || t > p.To:
		return p.x + p.width
	case p.To == p.From:
		return p.x
	}
	return p.x + p.width*float64(t-p.From)/float64(p.To-p.From)
}

// A rect is a part of a bar: its position and its class.
type rect struct {
	X, Width string // percent, or pixels if it would be too narrow to see
	Class    string
	Open     bool // it lasts until now
}

// thinnest is the minimum width of a bar in percent; anything narrower is drawn as a mark.
const thinnest = 0.4

// rect returns the rect of a span.
func (a *axis) rect(s steps.Span, class string) rect {
	from, to := a.at(s.Run, s.From), a.at(s.Run, s.To)
	if to-from < thinnest {
		return rect{X: percent(min(from, 100-thinnest)), Width: "3", Class: class}
	}
	return rect{X: percent(from), Width: percent(to - from), Class: class}
}

// html returns the rectangle; more are further attributes.
func (r rect) html(more ...h.Node) h.Node {
	return h.Shape("rect", append([]h.Node{h.Class(r.Class, h.If(r.Open, "open")), h.Attr("x", r.X), h.Width(r.Width)}, more...)...)
}

func percent(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "%" }

// A tick is a time on an axis.
type tick struct {
	X, Anchor, Text string
	Many            bool // there is no room for it on a phone
}

// html returns the text of a tick; more are further attributes.
func (t tick) html(y string, more ...h.Node) h.Node {
	return h.El("text", h.Group(more), h.Attr("x", t.X), h.Attr("y", y), h.Attr("text-anchor", t.Anchor), h.Text(t.Text))
}

// ticks returns three to five round times since the beginning of an axis of one part.
func (a *axis) ticks() []tick {
	if len(a.parts) != 1 || a.parts[0].To == a.parts[0].From {
		return nil
	}
	length := a.parts[0].To - a.parts[0].From
	step := steps.RoundTime(length/5 + 1)
	list := []tick{{X: "0%", Anchor: "start", Text: "0 s"}}
	for n := time.Duration(1); n <= length/step; n++ {
		t := n * step
		x := 100 * float64(t) / float64(length)
		anchor := "middle"
		if x > 96 {
			anchor = "end"
		}
		list = append(list, tick{X: percent(x), Anchor: anchor, Text: steps.TickText(t, step)})
	}
	return list
}
