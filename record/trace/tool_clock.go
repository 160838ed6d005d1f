package trace

import "time"

// A ToolClock tells how long tool calls took without the time in which the user was
// asked something. Its zero value is ready to use.
type ToolClock struct {
	asked map[subject]time.Duration // of calls that are open: how long the user had been asked in their turns when they began
}

// A subject says what an event is about.
type subject struct {
	run   int
	first uint64
	entry int
}

// Observe takes an event of a tool call. turn is the one that began last in the session;
// nil: none. ok is true if the call has ended with it, for the first time, and was not
// repeated from a history; how it ended is for the caller to see.
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
