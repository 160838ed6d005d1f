package summary

import (
	"slices"
	"time"

	"github.com/acptap/acptap/record/trace"
)

// A beside measures the time in which several turns were open, in one session or in several: a
// tape has it only once. The zero value is ready to use.
type beside struct {
	sessions []*trace.Session // with open turns
	waiting  [trace.ForAgent + 1]int
	at       time.Duration
	again    [trace.ForAgent + 1]time.Duration // of all but one of the turns, by what they waited for
}

// next begins the next tape.
func (b *beside) next() { b.sessions, b.waiting, b.at = nil, [trace.ForAgent + 1]int{}, 0 }

// take processes the events of a frame; only is the session that is counted, nil: all are.
func (b *beside) take(tr *trace.Trace, only *trace.Session) {
	took, counted := max(tr.Now()-b.at, 0), false
	b.at += took
	for part, turns := range b.waiting {
		if turns > 0 && !counted {
			turns, counted = turns-1, true
		}
		b.again[part] += time.Duration(turns) * took
	}
	events := tr.Events()
	for i := range events {
		if e := &events[i]; e.Kind == trace.TurnEvent && e.Phase == trace.Began && (only == nil || e.Session == only) && !slices.Contains(b.sessions, e.Session) {
			b.sessions = append(b.sessions, e.Session)
		}
	}
	b.waiting = [trace.ForAgent + 1]int{}
	b.sessions = slices.DeleteFunc(b.sessions, func(s *trace.Session) bool {
		turns, part := s.Conversation.Waiting()
		b.waiting[part] += turns
		return turns == 0
	})
}

// once returns what turns waited for, given it for each of them, without what they waited for beside
// others.
func (b *beside) once(all trace.Spend) trace.Spend {
	left := func(all time.Duration, part trace.Part) time.Duration { return max(all-b.again[part], 0) }
	return trace.Spend{User: left(all.User, trace.ForUser), Client: left(all.Client, trace.ForClient), Tool: left(all.Tool, trace.ForTool), Agent: left(all.Agent, trace.ForAgent)}
}
