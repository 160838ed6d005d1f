package report

import (
	"strings"
	"time"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A share is the part of a time that one party took.
type share struct {
	Word, Class, Took, Percent string
	Note                       string

	Most bool  // the largest of several
	Bar  *rect // nil if too narrow to see

	part float64 // percent
}

// A spending is what a time was spent on.
type spending struct {
	word, class string
	took        time.Duration
}

// spendings returns what turns waited for.
func spendings(s trace.Spend) []spending {
	return []spending{{"you", "waits", s.User}, {"client", "client", s.Client}, {"tools", "tool", s.Tool}, {"agent", "says", s.Agent}}
}

// shares returns the parts of a turn's time, which add up to all of it.
func shares(spent trace.Spend) []share { return sharesOf(spendings(spent)) }

func sharesOf(spent []spending) []share {
	total, seen, most := time.Duration(0), time.Duration(0), time.Duration(0)
	for _, p := range spent {
		total, most = total+max(p.took, 0), max(most, p.took)
	}
	for _, p := range spent {
		if 100*p.took >= total {
			seen += p.took
		}
	}
	var list []share
	x := 0.0
	for _, p := range spent {
		if p.took <= 0 {
			continue
		}
		part := 100 * float64(p.took) / float64(total)
		one := share{Word: p.word, Class: p.class, Took: termtext.Duration(p.took), Percent: stats.Share(int64(p.took), int64(total)).String(), part: part}
		if 100*p.took >= total { // the bars leave no gap for the others
			width := 100 * float64(p.took) / float64(seen)
			one.Bar = &rect{X: percent(x), Width: percent(width), Class: p.class}
			x += width
		}
		one.Most = p.took == most && p.took < total
		list = append(list, one)
	}
	return list
}

// A timing says where the time of the tapes went.
type timing struct {
	Shares  []share // of all of it; none without turns
	Took    string
	Text    string // in words: how much of it the model was busy, or without turns what calls took
	Slowest []slowStep
	None    string // why nothing is known
}

// A slowStep is something that took time.
type slowStep struct {
	Took string
	remark
}

func (r *reader) timing(s *summary.Summary) timing {
	if s.Untimed {
		return timing{None: "no times on the tape"}
	}
	t := timing{Took: s.Length()}
	if w := s.Time.Waited; s.Turns.Count > 0 {
		waited := spendings(trace.Spend{User: time.Duration(w.User), Client: time.Duration(w.Client), Tool: time.Duration(w.Tool), Agent: time.Duration(w.Agent)})
		spent := append([]spending{{"start-up", "start", time.Duration(s.Time.StartUp)}}, waited...)
		if s.IdleTells() {
			spent = append(spent, spending{strings.TrimPrefix(summary.Idle, "waiting for "), "idle", time.Duration(s.Time.Idle)})
		}
		t.Shares = sharesOf(spent)
	}
	if busy := time.Duration(s.Took - s.Time.Idle); s.Turns.Count == 0 && busy > 0 && s.Time.Idle > 0 {
		t.Shares = sharesOf([]spending{{"calls", "tool", busy}, {"between calls", "idle", time.Duration(s.Time.Idle)}})
	}
	for i := range t.Shares {
		switch one := &t.Shares[i]; one.Class {
		case "idle":
			one.Note = s.PauseText()
		case "tool":
			one.Note = s.SubagentText()
		}
	}
	if t.Text = s.SpentText(); s.Turns.Count > 0 {
		t.Text = s.LimitedText()
	}
	for _, step := range s.Time.Slowest {
		t.Slowest = append(t.Slowest, slowStep{step.Took.String(), r.remark(summary.Remark{Text: step.What, Frame: step.Frame})})
	}
	return t
}

func (t *timing) html() h.Node {
	if t.None == "" && t.Shares == nil && t.Text == "" && t.Slowest == nil {
		return nil
	}
	return h.Group{
		h.P(h.Class("label"), h.Text("time"), h.Given(t.Took, h.Text(" "), h.B(h.Text(t.Took)))), h.NL, textIn(h.P, "soft", t.None),
		h.Given(len(t.Shares), h.SVG(h.Class("spent"), h.Width("100%"), h.Height("12"), h.Aria("hidden", "true"), shareBars(t.Shares, "12")), h.NL,
			h.Ul(h.Each(t.Shares, share.told)), h.NL),
		h.Given(t.Text, h.P(h.Class("soft"), h.Text(t.Text)), h.NL),
		h.Given(len(t.Slowest), h.P(h.Class("label"), h.Text("slowest")), h.NL, h.El("ol", h.Each(t.Slowest, slowStep.html)), h.NL),
	}
}

func (one slowStep) html() h.Node {
	return h.Li(h.A(h.Link(one.Link), h.Title("frame "+one.Frame), h.Text(one.Text)), h.Text(" "), h.B(h.Text(one.Took)))
}

// told returns a row about a share.
func (s share) told() h.Node {
	return h.Li(h.Given(s.Word == "idle", h.Title("neither in start-up nor in a turn")), h.Given(s.Most, h.Class("most")),
		h.Span(key(s.Class), h.Text(s.Word)), h.Text(" "), h.B(h.Text(s.Took)), h.Text(" "), span("soft", s.Percent), h.Given(s.Note, h.Text(" "), span("note soft", s.Note)))
}

// key returns the colour of a kind of bar.
func key(class string) h.Node { return h.El("i", h.Class("key "+class)) }

// shareBars returns the bars of shares that are wide enough to see.
func shareBars(list []share, height string) h.Node {
	return h.Each(list, func(s share) h.Node {
		if s.Bar == nil {
			return nil
		}
		return s.Bar.html(h.Height(height))
	})
}

// shareBar returns what a phase waited for, as a bar.
func shareBar(list []share) h.Node {
	return h.Given(len(list), h.SVG(h.Class("shares"), h.Width("160"), h.Height("8"), h.Aria("hidden", "true"),
		h.Raw(`<title>what it waited for</title><rect class="back" width="100%" height="8" rx="4"/>`), shareBars(list, "8")))
}

// split returns the same in words.
func split(list []share) h.Node {
	return h.Group{h.Text("waited for"), h.Each(list, func(s share) h.Node {
		return h.Span(h.Class("part"), key(s.Class), h.Text(s.Word+" "), h.B(h.Text(s.Percent)))
	})}
}
