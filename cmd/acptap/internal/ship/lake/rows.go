package lake

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// A Tape is what is known of a tape without reading it.
type Tape struct {
	ID         string
	Start      time.Time          // zero: unknown
	Agent      string             // what the agent is called if it does not say so itself
	Parent     string             // the tape of the agent that has started this server; empty: none
	Server     string             // what that agent calls it; empty: it has no parent
	Connection dialect.Connection // as it is known so far
}

// Rows are what becomes known with a frame, or with the end of the tape.
type Rows struct {
	Turns  []Turn
	Tools  []Tool
	Calls  []Call
	Frames []Frame
}

// A Builder makes rows of the frames of one tape. Its memory is bounded. It is not safe
// for concurrent use.
type Builder struct {
	// Content adds the bytes of frames, and titles of turns and tool calls. The frames
	// are to be without secrets then. It must not change after the first Add.
	Content bool

	tape  Tape
	trace trace.Trace
	ends  trace.TurnEnds
	clock trace.ToolClock
}

// NewBuilder returns a Builder for the frames of a tape.
func NewBuilder(t Tape) *Builder {
	b := &Builder{tape: t, trace: trace.Trace{Brief: true}}
	b.trace.Next(t.Connection)
	return b
}

// Add takes the next frame, with its bytes, and returns what is known with it. It keeps
// nothing of f.
func (b *Builder) Add(f *dialect.Frame) Rows {
	b.trace.Add(f)
	rows := b.events()
	rows.Frames = append(rows.Frames, b.frame(f))
	return rows
}

// End returns what is left when no frame comes any more. What is open then, may have an
// end when a tape that goes on is read again.
func (b *Builder) End() Rows {
	b.trace.End()
	rows := b.events()
	for _, end := range b.ends.End() {
		rows.Turns = append(rows.Turns, b.turn(&end))
	}
	return rows
}

// events makes rows of what has just happened.
func (b *Builder) events() (rows Rows) {
	for _, e := range b.trace.Events() {
		for _, end := range b.ends.Observe(&e) {
			rows.Turns = append(rows.Turns, b.turn(&end))
		}
		switch {
		case e.Kind == trace.ToolCallEvent:
			if took, ok := b.clock.Observe(&e, b.ends.Last(e.Session)); ok {
				rows.Tools = append(rows.Tools, b.tool(&e, took))
			}
		case e.Kind == trace.CallEvent && e.Phase == trace.Ended:
			rows.Calls = append(rows.Calls, b.call(&e))
			if e.Call.Tool != "" {
				rows.Tools = append(rows.Tools, b.toolOfServer(&e))
			}
		}
	}
	return rows
}
