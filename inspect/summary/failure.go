package summary

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A harm says how bad a failure is, the worst first.
type harm uint8

const (
	agentDied   harm = iota
	turnFailed       // or setting up the connection or a session
	noAnswer         // to a request
	toolInLast       // a tool call of the last turn
	toolFailed       // of an earlier turn
	askedInVain      // any other request
	wasRefused
	bytesLost
	notJSON
	harms
)

// maxWorst limits the failures that are described. The rest are counted.
const maxWorst = 3

// A failures keeps the worst of the failures.
type failures struct {
	count int
	kinds [dialect.BadExit + 1]Failed
	first [harms][]Failure // the first maxWorst of each
}

// begin notes that a turn begins: calls that failed before are not in the last turn.
func (a *failures) begin() {
	early, late := a.first[toolFailed], a.first[toolInLast]
	a.first[toolFailed] = append(early, late[:min(len(late), maxWorst-len(early))]...)
	a.first[toolInLast] = nil
}

// worst returns the worst failures.
func (a *failures) worst() (list []Failure) {
	for _, some := range a.first {
		list = append(list, some...)
	}
	return list[:min(len(list), maxWorst)]
}

// add counts a failure.
func (a *failures) add(kind dialect.Failure, how harm, what string, at Frame) {
	a.count++
	if len(a.first[how]) < maxWorst {
		a.first[how] = append(a.first[how], Failure{kind, what, at})
	}
	k := &a.kinds[kind]
	if k.Count++; k.Count == 1 {
		k.Kind, k.What, k.Frame = kind, what, at
	}
}

// list returns the kinds of failures that occurred, most frequent first.
func (a *failures) list() []Failed {
	kinds := slices.DeleteFunc(slices.Clone(a.kinds[:]), func(k Failed) bool { return k.Count == 0 })
	slices.SortStableFunc(kinds, func(a, b Failed) int { return cmp.Compare(b.Count, a.Count) })
	return kinds
}

// harmOf returns how bad a frame's failure is.
func harmOf(kind dialect.Failure, f *dialect.Frame) harm {
	switch kind {
	case dialect.FailedRequest:
		if dialect.Does(f.Method, dialect.Prompts|dialect.Opens|dialect.Initializes) {
			return turnFailed
		}
		return askedInVain
	case dialect.FailedTool:
		return toolInLast
	case dialect.Refused:
		return wasRefused
	case dialect.Gap:
		return bytesLost
	case dialect.BadExit:
		return agentDied
	}
	return notJSON
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
		switch {
		case e == nil:
			return "question declined"
		case e.Kind == trace.PermissionEvent:
			return stepName(e) + " refused"
		}
		return stepName(e) + " declined"
	case dialect.InvalidLine:
		return "a line that is not JSON-RPC"
	case dialect.Gap:
		m := wire.ReadMark(f.Frame)
		return termtext.ByteSize(m.Gap+m.Damage) + " not recorded"
	case dialect.BadExit:
		if exit := wire.ReadMark(f.Frame).Exit; exit != nil {
			return termtext.Brief(dialect.DiedOf(exit).Brief(), 60)
		}
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
			kind == dialect.Refused && (e.Kind == trace.PermissionEvent || e.Question != nil) && e.Phase == trace.Ended:
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
		why = termtext.Piece(dialect.ErrorText(wire.Get(f.Raw, "error")))
	}
	text := cmp.Or(method, "a request nobody has sent")
	if why != "" {
		text += ": " + termtext.Cut(why, titleColumns)
	}
	return text
}
