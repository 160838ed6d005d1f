package stats

import "github.com/acptap/acptap/record/trace/nested"

// ServerCalls returns how long the calls of servers took that an agent has started, by
// SERVER/TOOL, and by server and method for what is no call of a tool, most first. The Run
// of a Place is the index of the tape.
func ServerCalls(tapes []*nested.Tape) []Named {
	calls := names[Timing]{}
	for i, tape := range tapes {
		for _, c := range tape.Calls {
			name := c.Tape.Server + "/" + c.Name
			if !c.IsTool() {
				name = c.Tape.Server + " " + c.Method
			}
			t := calls.of(name)
			if c.Open() {
				t.Open++
				continue
			}
			t.End(c.Failed, c.Took(), !c.Untimed, Place{i, c.Request})
		}
	}
	return timings(calls)
}
