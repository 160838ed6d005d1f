package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/frames/frametext"
	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// A calling is the story of tapes without turns, such as those of MCP: what was called,
// and with what result.
type calling struct {
	Lanes *lanes
	Left  string
}

func (c *calling) html() h.Node {
	if c == nil {
		return nil
	}
	return h.Group{h.Section(h.ID("story"), h.H2(h.Text("Calls")), h.NL, leftOut(c.Left), h.Raw(foldAll), h.NL, c.Lanes.html()), h.NL}
}

// idleBetweenCalls is the minimum idle time that is cut out.
const idleBetweenCalls = time.Second

// Limits on the calls on the page.
const (
	maxCalls     = 500
	slowestCalls = 200
	maxFailures  = 300
	maxTold      = 200
	maxKept      = 4 << 20 // bytes of params and results
)

// said holds the params and results of some frames.
type said struct {
	bodies map[stats.Place]json.RawMessage
	size   int
}

// keep stores a frame's content unless it exceeds longest bytes.
func (s *said) keep(at stats.Place, f *dialect.Frame, longest int) {
	if s.size > maxKept {
		return
	}
	raw := frametext.Body(f).Raw()
	if len(raw) > longest {
		raw = trace.Cut
	}
	if s.bodies == nil {
		s.bodies = map[stats.Place]json.RawMessage{}
	}
	s.bodies[at] = json.RawMessage(raw)
	s.size += len(raw)
}

// keep stores what the page will show of a frame.
func (r *reader) keep(run int, f *dialect.Frame) {
	switch {
	case f.Kind != wire.Request && f.Kind != wire.Response:
	case f.Does(dialect.CallsTool):
		r.said.keep(stats.Place{Run: run, Seq: f.Seq}, f, 2*maxOutput)
	case f.Does(dialect.Discovers | dialect.Initializes):
		r.met.keep(stats.Place{Run: run, Seq: f.Seq}, f, maxIntroduction)
	}
}

// calling returns what was called, or nil if nothing was.
func (r *reader) calling() *calling {
	var calls []*trace.Call
	for _, c := range r.trace.Calls {
		if r.in.Session == "" || c.Session == r.in.Session {
			calls = append(calls, c)
		}
	}
	if len(calls) == 0 {
		return nil
	}
	one := &calling{}
	shown := calls
	if len(calls) > maxCalls {
		shown = tellingCalls(calls)
		one.Left = fmt.Sprintf("Of %s calls, %s are shown: the slowest, and those that failed. The table of tools counts all.", termtext.Grouped(int64(len(calls))), termtext.Grouped(int64(len(shown))))
	}
	one.Lanes = r.callLanes(shown)
	if len(shown) > maxTold && one.Left == "" {
		one.Left = fmt.Sprintf("What was said is shown of the first %d calls.", maxTold)
	}
	return one
}

// tellingCalls returns the slowest and the failed calls, in tape order.
func tellingCalls(calls []*trace.Call) []*trace.Call {
	wanted := map[*trace.Call]bool{}
	for _, c := range stats.Slowest(calls, slowestCalls) {
		wanted[c] = true
	}
	failures := 0
	for _, c := range calls {
		if (c.Failed || c.Open()) && failures < maxFailures {
			wanted[c] = true
			failures++
		}
	}
	return slices.DeleteFunc(slices.Clone(calls), func(c *trace.Call) bool { return !wanted[c] })
}

// callLanes returns the rows of calls, on an axis that cuts out the time between them.
func (r *reader) callLanes(calls []*trace.Call) *lanes {
	l := &lanes{ID: "t-calls"}
	var spans []steps.Span
	for i, c := range calls {
		if c.Untimed {
			continue
		}
		s := steps.Span{Run: c.Run, From: c.Began, To: c.Ended}
		row := &lane{Kind: "calls", Label: termtext.Piece(cmp.Or(c.Tool, c.Name())), Frame: r.frame(c.Run, c.Request), class: "tool"}
		if c.Dir == wire.AgentToClient {
			look := kindLooks[steps.Client]
			if trace.PartOf(c.Method) == trace.ForUser {
				look = kindLooks[steps.User]
			}
			row.Kind, row.class = look.word, look.class
		}
		if c.Open() {
			s.To, row.Wrong = r.ends[c.Run], "no answer"
			if c.Cancelled || dialect.EndsAtClose(c.Method) {
				s.To, row.Wrong = s.From, ""
			}
		}
		if c.Refused && !c.Failed {
			row.Wrong = "declined"
		} else if r.hasFailed(c) {
			row.Wrong, row.class = "failed", row.class+" bad"
		} else if c.Failed {
			row.Wrong = "declined"
		}
		if i < maxTold && dialect.Does(c.Method, dialect.CallsTool) {
			told := r.toldCall(c)
			row.Item = &told
		}
		row.span = s
		row.Took = took(s.To-s.From, c.Open())
		l.Rows = append(l.Rows, row)
		spans = append(spans, s)
	}
	a := newAxis(spans, idleBetweenCalls)
	if l.Ticks = a.ticks(); l.Ticks == nil {
		l.Ticks = a.gaps()
	}
	if len(a.parts) == 1 {
		l.From, l.Length = a.parts[0].From.Microseconds(), (a.parts[0].To - a.parts[0].From).Microseconds()
	}
	for _, row := range l.Rows {
		row.draw(a, l.ID)
	}
	l.Rows = fold(l.Rows)
	return l
}

// hasFailed reports whether a call failed. A server that does not know server/discover,
// with which a client finds out the server's version, has not failed.
func (r *reader) hasFailed(c *trace.Call) bool {
	return c.Failed && !dialect.Does(c.Method, dialect.Discovers) || r.failed[stats.Place{Run: c.Run, Seq: c.Response}]
}

// toldCall returns the item about a tool call: its arguments and its result.
func (r *reader) toldCall(c *trace.Call) item {
	one := item{Kind: "tool", Frame: r.frame(c.Run, c.Request)}
	one.ID = one.Frame.ID()
	if !c.Untimed {
		one.At = termtext.Duration(c.Began)
	}
	t := &toolCall{Kind: toolKinds["other"], Title: termtext.Brief(cmp.Or(c.Tool, c.Method), 160), State: status{"completed", "good"}}
	t.Kind.Word = "" // all of them are tools
	one.Tool = t
	if asked := wire.ValueAt(r.said.bodies[stats.Place{Run: c.Run, Seq: c.Request}], "arguments"); asked.Exists() {
		t.Input = jsonText(json.RawMessage(asked.Raw()))
	}
	given := wire.ValueOf(r.said.bodies[stats.Place{Run: c.Run, Seq: c.Response}])
	for _, block := range given.Get("content").Array() {
		t.Parts = append(t.Parts, r.block(block, one.Frame))
	}
	switch {
	case c.Open():
		t.State = status{"no answer", "warn"}
		if c.Cancelled {
			t.State.Word = "cancelled"
		}
	case r.hasFailed(c):
		t.State, t.Open = status{"failed", "bad"}, true
	}
	if !c.Untimed && !c.Open() {
		t.Took = termtext.Duration(c.Latency())
	}
	t.Empty = len(t.Parts) == 0 && t.Input == ""
	return one
}
