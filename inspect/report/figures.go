package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	check "github.com/acptap/acptap/inspect/conform/report"
	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A figure is a number at the head of the page. Wrong is separate so that it can be
// coloured.
type figure struct {
	Label string
	Value value
	Note  string
	Wrong string
	At    string // id of the first thing that is wrong; empty if not on the page
	Told  bool   // the lines of the head tell it
}

// figureList returns figures as the page shows them.
func figureList(list []figure) h.Node {
	return h.Group{h.El("dl", h.Class("figures"), h.Each(list, figure.html)), h.NL}
}

func (f figure) html() h.Node {
	linked := func(text string) h.Node {
		if f.At == "" {
			return h.Text(text)
		}
		return h.A(h.Link(f.At), h.Text(text))
	}
	value := h.Text(f.Value.String())
	if f.Wrong == "" {
		value = linked(f.Value.String())
	}
	return h.Group{h.Div(h.El("dt", h.Text(f.Label)), h.El("dd", value,
		h.Given(f.Wrong, h.Text(" "), h.Small(h.Class("bad"), linked(f.Wrong))),
		h.Given(f.Note, h.Text(" "), h.Small(h.Text(f.Note))))), h.NL}
}

// untold returns the figures that the lines of the head do not tell.
func (r *reader) untold() []figure {
	return slices.DeleteFunc(r.figures(), func(f figure) bool { return f.Told })
}

// figures returns the numbers of the tapes, the cost first. It omits a number that would be
// 0 of 0.
func (r *reader) figures() []figure {
	s := r.sum
	turns := r.tally.Stats.Turns()
	var list []figure
	add := func(label string, of value, note, wrong string) {
		list = append(list, figure{Label: label, Value: of, Note: note, Wrong: wrong})
	}
	if s.Turns.Count > 0 {
		list = append(list, usage(&s)...)
	} else if len(s.Called) > 0 {
		list = append(list, figure{Label: "cost", Note: "not reported"})
	}
	told := func(label string, of value, note, wrong, at string) {
		list = append(list, figure{label, of, note, wrong, at, true})
	}
	if n := s.Turns.Count; n > 0 {
		var ends []string
		for _, e := range s.Turns.Ends {
			ends = append(ends, fmt.Sprintf("%d %s", e.Count, e.What))
		}
		if s.Turns.Running > 0 {
			ends = append(ends, fmt.Sprintf("%d running", s.Turns.Running))
		}
		if len(s.Turns.Ends) == 1 && s.Turns.Running == 0 {
			ends = []string{s.Turns.Ends[0].What}
		}
		add("turns", count(n), strings.Join(ends, ", "), "")
	}
	if o := s.Time.FirstOutput; o != nil {
		note := ""
		if o.Worst > o.Median {
			note = "worst " + termtext.Duration(time.Duration(o.Worst))
		}
		add("first output", timeOf(time.Duration(o.Median)), note, "")
	}
	if s.Turns.Count == 0 {
		calls := 0
		for _, c := range s.Calls {
			calls += c.Count
		}
		if calls > 0 {
			note := ""
			if l := s.Time.Latency; l != nil {
				note = "median " + termtext.Duration(time.Duration(l.Median)) + "; worst " + termtext.Duration(time.Duration(l.Worst))
			}
			add("requests", count(calls), note, "")
		}
	}
	if n := turns.Work.Tools; n > 0 {
		told("tool calls", count(n), "", failed(turns.Work.FailedTools+turns.Work.BadExits), r.failedTool())
	}
	if asked := r.asked(); asked > 0 && s.Turns.Count > 0 {
		told("waited for you", timeOf(time.Duration(s.Time.Waited.User)), "asked "+termtext.Times(asked), "", "")
	}
	if n := s.Failures.Count; n > 0 {
		told("failures", count(n), "", "", r.place(s.Failures.Worst[0].Frame))
	}
	if found := r.found(); found.Total() > 0 {
		note, wrong := "", ""
		if n := found[conform.Note]; n > 0 {
			note = "and " + termtext.Counted(n, "note")
		}
		if n := found[conform.Violation]; n > 0 {
			wrong = termtext.Counted(n, "violation")
		}
		add("protocol findings", count(found.Total()-found[conform.Note]), note, wrong)
		list[len(list)-1].At = "findings"
	}
	add("messages", count(int(s.Frames)), "", "")
	return list
}

// usage returns which costs and tokens the agent reported for the turns.
func usage(s *summary.Summary) []figure {
	u, t := s.Usage, s.Usage.Tokens
	note := ""
	switch {
	case u.Running:
		note = "of the whole session"
	case u.Turns > 0 && u.Turns < s.Turns.Count:
		note = fmt.Sprintf("%d of %s", u.Turns, termtext.Counted(s.Turns.Count, "turn"))
	}
	var list []figure
	for _, c := range u.Costs {
		list = append(list, figure{Label: "cost", Value: amount(c.Amount, c.Currency)})
	}
	if u.Costs == nil {
		list = append(list, figure{Label: "cost", Note: "not reported"})
	}
	tokens := func(label string, n trace.Count) {
		if n.Given {
			list = append(list, figure{Label: label, Value: count(int(min(n.N, math.MaxInt))), Note: note})
			note = "" // it is said once
		}
	}
	tokens("tokens in all", t.Total)
	tokens("tokens in", t.Input)
	tokens("out", t.Output)
	tokens("cached", t.CachedRead)
	if c := u.Context; c != nil {
		context := figure{Label: "context", Value: count(int(min(c.Used, math.MaxInt)))}
		if c.Size > 0 {
			context.Note = "of " + termtext.Grouped(int64(c.Size)) + ", " + stats.Share(int64(c.Used), int64(c.Size)).String()
		}
		list = append(list, context)
	} else if t == (trace.Tokens{}) {
		list = append(list, figure{Label: "tokens", Note: "not reported"})
	}
	return list
}

// failedTool returns the id of the first failed tool call in the story.
func (r *reader) failedTool() string {
	for _, s := range r.sessions() {
		for _, e := range s.Conversation.Entities {
			if e.ToolCall != nil && !e.Replayed && e.ToolCall.Failed() {
				return r.frame(e.Run, e.First).ID()
			}
		}
	}
	return ""
}

// asked returns how often the user was asked for permission.
func (r *reader) asked() (n int) {
	for _, c := range r.trace.Calls {
		if dialect.AreaOf(c.Method, "") == dialect.Permission {
			n++
		}
	}
	return n
}

func failed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s failed", termtext.Grouped(int64(n)))
}

// found counts the findings.
func (r *reader) found() (n check.Tally) {
	for _, t := range r.in.Tapes {
		for _, lines := range t.Findings {
			for _, l := range lines {
				n[l.Strength]++
			}
		}
	}
	return n
}
