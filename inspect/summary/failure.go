package summary

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// fail counts a failure.
func (t *Tally) fail(kind dialect.Failure, what string, run int, seq uint64) {
	all, frame := &t.sum.Failures, Frame{Run: run, Seq: seq}
	if all.Count++; len(all.First) < maxFirst {
		all.First = append(all.First, Failure{kind, what, frame})
	}
	k := &t.kinds[kind]
	if k.Count++; k.Count == 1 {
		k.Kind, k.What, k.Frame = kind, what, frame
	}
}

// slowKinds returns what was slow.
func (t *Tally) slowKinds() []Slow {
	return slices.DeleteFunc(slices.Clone(t.slow[:]), func(s Slow) bool { return s.Count == 0 })
}

// failedKinds returns the kinds of failures that occurred, most frequent first.
func (t *Tally) failedKinds() []Failed {
	kinds := slices.DeleteFunc(slices.Clone(t.kinds[:]), func(k Failed) bool { return k.Count == 0 })
	slices.SortStableFunc(kinds, func(a, b Failed) int { return cmp.Compare(b.Count, a.Count) })
	return kinds
}

// failure says what failed with a frame and its events.
func (t *Tally) failure(kind dialect.Failure, f *dialect.Frame, events []trace.Event) string {
	e := about(kind, events)
	switch kind {
	case dialect.FailedRequest:
		return failedRequest(f, e)
	case dialect.FailedTool:
		if e == nil {
			return "a tool call"
		}
		return stepName(e)
	case dialect.Refused:
		if e == nil || e.Kind != trace.PermissionEvent {
			return "question refused"
		}
		return stepName(e) + " refused"
	case dialect.InvalidLine:
		return "a line that is not JSON-RPC"
	case dialect.Gap:
		m := wire.ReadMark(f.Frame)
		return termtext.ByteSize(m.Gap+m.Damage) + " not recorded"
	case dialect.BadExit:
		return exitText(wire.ReadMark(f.Frame).Exit)
	}
	return kind.String()
}

// about returns the event that a failure of a kind concerns, or nil.
func about(kind dialect.Failure, events []trace.Event) *trace.Event {
	for i := range events {
		e := &events[i]
		failed := e.Phase == trace.Ended && e.End == trace.Failed
		switch {
		case kind == dialect.FailedTool && e.Kind == trace.ToolCallEvent && failed,
			kind == dialect.FailedRequest && e.Kind == trace.CallEvent && failed,
			kind == dialect.Refused && e.Kind == trace.PermissionEvent && e.Phase == trace.Ended:
			return e
		}
	}
	return nil
}

// failedRequest says which request failed, and why.
func failedRequest(f *dialect.Frame, e *trace.Event) string {
	method := termtext.Piece(f.Name())
	if e != nil {
		method = callName(e)
	}
	why := ""
	if f.Kind == wire.Response {
		why = termtext.Piece(wire.ValueAt(f.Raw, "error.message").Text())
	}
	text := cmp.Or(method, "a request nobody has sent")
	if why != "" {
		text += ": " + termtext.Cut(why, titleColumns)
	}
	return text
}

func exitText(exit *wire.Exit) string {
	switch {
	case exit == nil:
		return "the agent's end"
	case exit.Error != "":
		return "not started: " + termtext.Piece(exit.Error)
	case exit.Signal != "":
		return termtext.Piece(exit.Signal)
	}
	return fmt.Sprint("exit ", exit.Code)
}
