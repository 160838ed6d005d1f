package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// Lanes are what went on, each on a row of its own, on one axis of time: a waterfall.
type lanes struct {
	ID    string // of the element with the ticks
	Ticks []tick
	Rows  []*lane
}

// A lane is one step.
type lane struct {
	Kind   string // a word of ours
	Label  string
	Frame  frameRef
	Inside bool   // of the one above: what was asked of the client or of a server for it
	Took   string // · for what is a single frame
	Wrong  string // what is wrong with it, in a word
	Grave  bool   // it has failed
	Told   bool   // there is an item about it
	Bar    rect

	span  span
	class string
}

// lanes returns the rows of a turn.
func (r *reader) lanes(s *trace.Session, one *turn, entities []*trace.Entity, asked []*trace.Call) *lanes {
	t := one.of
	whole := r.span(t)
	l := &lanes{ID: "t-" + one.ID}
	var tops []*lane // steps of the agent
	inside := map[*lane][]*lane{}
	byRequest := map[uint64]*lane{} // of a permission
	shown := terminals(s, entities)
	for _, e := range entities {
		if e.Run != t.Run || e.Replayed || e.Terminal != nil && shown[e.Terminal] {
			continue
		}
		var top *lane
		if top = r.entityLane(e, t, whole); top != nil {
			tops = append(tops, top)
			if e.ToolCall != nil {
				for _, p := range e.ToolCall.Permissions {
					byRequest[p.Request] = top
				}
			}
		}
		for _, c := range r.calls.Of(e) {
			n := r.nestedLane(c, t, whole)
			if n == nil {
				continue
			}
			if top != nil && c.By != nested.NoEvidence {
				n.Inside = true
				inside[top] = append(inside[top], n)
			} else {
				tops = append(tops, n)
			}
		}
	}
	choices := trace.Permissions(entities)
	for _, c := range asked {
		row := r.callLane(c, choices[c.Request], t, whole)
		above := byRequest[c.Request]
		if above == nil {
			above = around(tops, row.span)
		}
		if above == nil {
			tops = append(tops, row)
			continue
		}
		row.Inside = true
		inside[above] = append(inside[above], row)
	}
	slices.SortStableFunc(tops, func(a, b *lane) int { return cmp.Compare(a.span.from, b.span.from) })
	for _, top := range tops {
		slices.SortStableFunc(inside[top], func(a, b *lane) int { return cmp.Compare(a.span.from, b.span.from) })
		l.Rows = append(append(l.Rows, top), inside[top]...)
	}
	a := newAxis([]span{whole}, 0)
	l.Ticks = a.ticks()
	for _, row := range l.Rows {
		row.draw(a)
	}
	return l
}

// draw makes the bar of a row.
func (l *lane) draw(a *axis) {
	l.Bar = a.rect(l.span, l.class)
	l.Grave = strings.HasSuffix(l.class, " bad")
}

// around returns the last tool call that a span lies in.
func around(tops []*lane, s span) *lane {
	for _, top := range slices.Backward(tops) {
		if strings.HasPrefix(top.class, "tool") && top.span.from <= s.from && s.to <= top.span.to {
			return top
		}
	}
	return nil
}

// entityLane returns the row of what the agent said or did; nil for what is neither.
func (r *reader) entityLane(e *trace.Entity, t *trace.Turn, whole span) *lane {
	l := &lane{Frame: r.frame(e.Run, e.First), span: span{e.Run, e.Began, e.Ended}}
	switch {
	case e.ToolCall != nil:
		l.Kind, l.Label, l.class = kindOf(e.ToolCall).Word, toolTitle(e.ToolCall), "tool"
		switch s := toolState(e.ToolCall, t.Open()); {
		case s.Class == "bad":
			l.Wrong, l.class = s.Word, "tool bad"
		case s.Word != "" && s.Word != "completed":
			l.Wrong = s.Word
		}
		if !e.ToolCall.Finished() {
			l.span.to = max(l.span.to, whole.to)
		}
	case e.Message != nil && e.Message.Role == trace.Agent:
		l.Kind, l.class = "says", "says"
	case e.Message != nil && e.Message.Role == trace.Thought:
		l.Kind, l.class = "thinks", "thinks"
	case e.Plan != nil:
		l.Kind, l.Label, l.class = "plan", planText(e.Plan), "thinks"
		l.span.to = l.span.from // it stays
	case e.Compaction != nil:
		l.Kind, l.Label, l.class = "agent", "compaction", "thinks"
	case e.Terminal != nil && e.Terminal.Command != "":
		l.Kind, l.Label, l.class = "run", termtext.Brief(e.Terminal.Command, 160), "tool"
	default:
		return nil
	}
	if e.Message != nil {
		l.Label = termtext.Brief(e.Message.Text(), 160)
	}
	if e.Untimed {
		l.span = span{t.Run, t.Began, t.Began}
	}
	l.Told = true
	l.Took = took(l.span, e.First == e.Last)
	if e.ToolCall != nil && !e.ToolCall.Finished() {
		l.Took = "–"
	}
	return l
}

// took says how long a step took.
func took(s span, single bool) string {
	if single || s.from == s.to {
		return "·"
	}
	return termtext.Duration(s.to - s.from)
}

// callLane returns the row of a request of the agent.
func (r *reader) callLane(c *trace.Call, asked *trace.Permission, t *trace.Turn, whole span) *lane {
	l := &lane{Kind: "asks", Label: termtext.Piece(c.Name()), Frame: r.frame(c.Run, c.Request), span: span{c.Run, c.Began, c.Ended}, class: "client"}
	if c.Open() {
		l.span.to, l.Wrong = whole.to, "no answer"
	}
	l.Took = took(l.span, false)
	switch trace.PartOf(c.Method) {
	case trace.ForUser:
		l.Kind, l.class = "waits", "waits"
	case trace.ForTool:
		l.class = "tool"
	}
	if asked != nil {
		l.Label = "permission"
		if asked.Outcome != "" {
			l.Label += " → " + termtext.Brief(asked.Choice(), 80)
		}
	}
	if c.Failed {
		l.Wrong, l.class = "failed", l.class+" bad"
	}
	return l
}

// nestedLane returns the row of a call of a server; nil if it is not known when that was.
func (r *reader) nestedLane(c nested.Joined, t *trace.Turn, whole span) *lane {
	start := r.in.Tapes[t.Run].Info.Start.Time
	if c.Untimed || start.IsZero() {
		return nil
	}
	from := c.Began.Sub(start)
	l := &lane{Kind: "mcp", Label: termtext.Piece(c.Tape.Server) + " · " + termtext.Piece(cmp.Or(c.Name, c.Method)), Frame: r.serverFrame(c.Tape.ID, c.Request), class: "mcp"}
	l.span = span{t.Run, max(from, whole.from), from + c.Took()}
	l.Took = termtext.Duration(c.Took())
	switch {
	case c.Failed:
		l.Wrong, l.class = "failed", "mcp bad"
	case c.Cancelled:
		l.Wrong = "cancelled"
	case c.Open():
		l.Wrong, l.span.to, l.Took = "no answer", whole.to, "–"
	}
	l.span.to = max(min(l.span.to, whole.to), l.span.from)
	return l
}

// planText says how far a plan is.
func planText(p *trace.Plan) string {
	done := 0
	entries := p.Entries()
	for _, e := range entries {
		if e.Status == "completed" {
			done++
		}
	}
	if len(entries) == 0 {
		return "plan"
	}
	return termtext.Grouped(int64(done)) + " of " + termtext.Counted(len(entries), "step") + " done"
}
