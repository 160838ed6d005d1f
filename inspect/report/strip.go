package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A strip shows all turns of a session on one axis, without the time between them.
type strip struct {
	Label  string // in words
	Run    string // whose, of two runs
	Turns  []stripTurn
	Gaps   []tick // how long nothing went on
	Stacks bool   // a turn is one bar of its shares, as there are many
}

type stripTurn struct {
	Number int
	ID     string
	Title  string
	Back   rect
	Bars   []stripBar
}

type stripBar struct {
	rect
	Y, Height string
}

// mostRows is up to how many turns a strip has rows of what went on.
const mostRows = 60

// stripRows are the classes of the rows.
var stripRows = []string{"thinks", "says", "tool", "waits"}

// strip returns the strip of a session; nil if no time is known.
func (r *reader) strip(s *trace.Session, turns []*turn) *strip {
	var spans []span
	for _, t := range turns {
		if !t.of.Untimed {
			spans = append(spans, r.span(t.of))
		}
	}
	if len(spans) < 2 { // a single turn has its waterfall
		return nil
	}
	a := newAxis(spans, 0)
	all := &strip{Stacks: len(turns) > mostRows}
	all.Label = fmt.Sprintf("%s in %s, idle time between them cut out", plural(len(spans), "turn"), termtext.Duration(a.busy()))
	for _, t := range turns {
		if t.of.Untimed {
			continue
		}
		all.Turns = append(all.Turns, r.stripTurn(a, t, all.Stacks, func(s span) span { return s }))
	}
	all.Gaps = a.gaps()
	return all
}

// stripTurn draws a turn on an axis, on which place says where a time is.
func (r *reader) stripTurn(a *axis, t *turn, stacks bool, place func(span) span) stripTurn {
	whole := r.span(t.of)
	one := stripTurn{Number: t.Number, ID: t.ID, Back: a.rect(place(whole), "")}
	one.Title = fmt.Sprintf("turn %d, %s, %s: %s", t.Number, t.State.Word, termtext.Duration(whole.to-whole.from), termtext.Brief(t.Prompt, 80))
	if stacks {
		one.Bars = stack(a, place(whole), t.Shares)
	} else if t.Lanes != nil {
		one.Bars = stepBars(a, t.Lanes.Rows, place)
	}
	return one
}

// stepBars returns what went on in a turn, in the row of each kind.
func stepBars(a *axis, lanes []*lane, place func(span) span) []stripBar {
	var bars []stripBar
	for _, l := range lanes {
		class, _, wrong := strings.Cut(l.class, " ")
		for i, row := range stripRows {
			if row != class {
				continue
			}
			one := stripBar{a.rect(place(l.span), class), fmt.Sprint(4 + 12*i), "10"}
			if wrong {
				one.Class += " bad"
			}
			bars = append(bars, one)
		}
	}
	return bars
}

// stack returns the shares of a turn, one above the other.
func stack(a *axis, whole span, shares []share) []stripBar {
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

// busy is how much time an axis has.
func (a *axis) busy() (sum time.Duration) {
	for _, p := range a.parts {
		sum += p.to - p.from
	}
	return sum
}

// gaps says how long nothing went on between parts, where that is over a second and there
// is room to say so.
func (a *axis) gaps() []tick {
	var list []tick
	last := -100.0
	for i := 1; i < len(a.parts); i++ {
		before, p := &a.parts[i-1], &a.parts[i]
		text := "next tape"
		if before.run == p.run {
			idle := p.from - before.to
			if idle <= time.Second {
				continue
			}
			text = "idle " + termtext.Duration(idle)
		}
		if p.x-last < 9 || p.x < 4 || p.x > 96 {
			continue
		}
		last = p.x
		list = append(list, tick{percent(p.x), "middle", text})
	}
	return list
}
