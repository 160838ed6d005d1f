package lake

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// A Tape is what is known about a tape without reading it.
type Tape struct {
	ID         string
	Start      time.Time          // zero: unknown
	Agent      string             // the name of the agent if it does not name itself
	Parent     string             // the tape of the agent that started this server; empty: none
	Server     string             // that agent's name for the server; empty: it has no parent
	Connection dialect.Connection // as far as known
}

// Rows holds what a frame, or the end of the tape, completes.
type Rows struct {
	Turns  []Turn
	Tools  []Tool
	Calls  []Call
	Frames []Frame
}

// A Builder turns the frames of one tape into rows. Its memory is bounded. It is not safe
// for concurrent use.
type Builder struct {
	// Content adds the bytes of frames, and titles of turns and tool calls. The caller must
	// then remove secrets from frames. It must not change after the first Add.
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

// Add processes the next frame, with its bytes, and returns the rows that it completes.
// It does not retain f.
func (b *Builder) Add(f *dialect.Frame) Rows {
	b.trace.Add(f)
	rows := b.events()
	rows.Frames = append(rows.Frames, b.frame(f))
	return rows
}

// End returns the remaining rows after the last frame. What is still open may turn out to
// have ended if the tape grows and is read again.
func (b *Builder) End() Rows {
	b.trace.End()
	rows := b.events()
	for _, end := range b.ends.Rest(b.trace.Now()) {
		rows.Turns = append(rows.Turns, b.turn(&end))
	}
	return rows
}

// events returns the rows for the latest events.
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
