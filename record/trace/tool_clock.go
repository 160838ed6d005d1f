package trace

import "time"

// A ToolClock measures how long tool calls took, without the time in which the user was
// asked something. Its zero value is ready to use.
type ToolClock struct {
	asked map[subject]time.Duration // by open call: how long the user had been asked in its turn when the call began
}

// A subject identifies what an event is about.
type subject struct {
	run   int
	first uint64
	entry int
}

// Observe takes an event of a tool call, and the turn that began last in its session; nil:
// none. ok is true if the event ends the call for the first time, and the call is not part
// of a repeated history. The caller must check how it ended.
func (c *ToolClock) Observe(e *Event, turn *Turn) (took time.Duration, ok bool) {
	about := subject{e.Run, e.First, e.Entry}
	asked := time.Duration(0)
	if turn != nil && turn.Number == e.InTurn {
		asked = turn.Spend(e.At).User
	}
	switch e.Phase {
	case Began:
		if c.asked == nil {
			c.asked = map[subject]time.Duration{}
		}
		c.asked[about] = asked
	case Ended:
		before, open := c.asked[about]
		delete(c.asked, about)
		return e.At - e.Began - max(asked-before, 0), open && !e.Repeated
	}
	return 0, false
}
