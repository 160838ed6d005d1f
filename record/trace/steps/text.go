package steps

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// Text returns a description of a step, in the words of the wire.
func (s *Step) Text() string {
	switch {
	case s.Entity != nil:
		return entityText(s.Entity)
	case s.Server != nil:
		return s.Server.Title()
	case s.Starts != nil:
		return s.Starts.Server
	case s.Asked != nil && s.Asked.Outcome != "":
		return "permission → " + s.Asked.Choice()
	case s.Asked != nil:
		return "permission"
	case s.Call != nil:
		return s.Call.Name()
	}
	return ""
}

func entityText(e *trace.Entity) string {
	switch {
	case e.ToolCall != nil:
		return cmp.Or(e.ToolCall.Title, e.ToolCall.Name, e.ToolCall.ID)
	case e.Message != nil:
		return e.Message.Text()
	case e.Plan != nil:
		return planText(e.Plan)
	case e.Terminal != nil:
		return e.Terminal.Command
	case e.Subagent != nil:
		return cmp.Or(e.Subagent.Title, e.Subagent.ID)
	case e.Compaction != nil:
		return "compaction"
	}
	return ""
}

// planText returns how much of a plan is done.
func planText(p *trace.Plan) string {
	done := 0
	entries := p.Entries()
	for _, e := range entries {
		if dialect.IsFinal(e.Status) {
			done++
		}
	}
	if len(entries) == 0 {
		return "plan"
	}
	return fmt.Sprintf("%s of %s done", termtext.Grouped(int64(done)), termtext.Counted(len(entries), "step"))
}

// TickText writes the time of a tick without trailing zeros, as precise as the distance
// between ticks requires.
func TickText(t, step time.Duration) string {
	unit := time.Second
	for unit > step && step > 0 && unit > time.Microsecond {
		unit /= 10
	}
	t = t.Round(unit)
	in := func(unit time.Duration, name string) string {
		return strconv.FormatFloat(float64(t)/float64(unit), 'f', -1, 64) + " " + name
	}
	switch {
	case t >= time.Hour && t%time.Hour == 0:
		return in(time.Hour, "h")
	case t >= time.Minute && t%time.Minute == 0:
		return in(time.Minute, "min")
	case t >= time.Minute:
		return t.String()
	case t >= time.Second || t == 0:
		return in(time.Second, "s")
	case t >= time.Millisecond:
		return in(time.Millisecond, "ms")
	}
	return in(time.Microsecond, "µs")
}
