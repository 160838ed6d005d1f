package summary

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/acptap/acptap/inspect/summary/cause"
	"github.com/acptap/acptap/inspect/summary/shell"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// failureText says what failed with a frame and its events, and why. A tool that failed has run a
// command, which printed something in a terminal.
func failureText(kind dialect.Failure, f *dialect.Frame, events []trace.Event, command, printed string) (what, why string) {
	e := about(kind, events)
	switch kind {
	case dialect.FailedRequest:
		return failedRequest(f, e, turnOf(f, events))
	case dialect.FailedTool:
		if e == nil {
			return "a tool call", ""
		}
		update := wire.Get(f.Raw, "params", "update")
		why = cause.Of(update, printed)
		switch code, _ := cause.Exit(update); {
		case cause.ByUser(why):
			why = stoppedByYou
		case code == 1 && (why == "exit 1" || cause.Empty(why)) && shell.SaysNo(cmp.Or(command, e.ToolCall.ToolCall.Title)):
			why = foundNothing
		case isTimeout(command, code) && !cause.Tells(why):
			why = stoppedByTimeout
		}
		return failedName(e, command), why
	case dialect.Stopped:
		if e == nil {
			return "a turn", ""
		}
		return turnName(e.Turn), stopText(e.Turn)
	case dialect.InvalidLine:
		return "a line that is not JSON-RPC", ""
	case dialect.Gap:
		m := wire.ReadMark(f.Frame)
		return termtext.ByteSize(m.Gap+m.Damage) + " not recorded", ""
	case dialect.BadExit:
		if exit := wire.ReadMark(f.Frame).Exit; exit != nil {
			return termtext.Brief(dialect.DiedOf(exit).Brief(), 60), ""
		}
	}
	return kind.String(), ""
}

const (
	stoppedByYou     = "stopped by you"
	stoppedByTimeout = "stopped by timeout"
	foundNothing     = "found nothing"
)

// stopped reports whether a failure is a command that the user or its own timeout has stopped.
func (f *Failure) stopped() bool {
	return strings.HasSuffix(f.What, ": "+stoppedByYou) || strings.HasSuffix(f.What, ": "+stoppedByTimeout)
}

// isTimeout reports whether a command has exited because of a timeout that it set itself, as
// the program of that name says (GNU coreutils).
func isTimeout(command string, code int64) bool {
	line := shell.Parse(command)
	return code == 124 && line.TimesOut()
}

// Sign returns the sign before a failure.
func (f *Failure) Sign() string {
	switch {
	case f.stopped():
		return dialect.Cancelled.Sign()
	case f.wentOn, f.Fate == gotRound, f.passed && f.Later.Seq != 0: // the turn was done without it
		return "~"
	case f.Mended():
		return dialect.Done.Sign()
	}
	return dialect.Errored.Sign()
}

// Word says in a word what came of a failure. It is empty if nothing could mend it.
func (f *Failure) Word() string {
	switch {
	case f.after.next:
		return gotFurther
	case f.Fate == gotRound:
		return gotRound
	case f.Sign() == "~" && f.tried.turn > 0:
		return "retried"
	case f.Sign() == "~":
		return wentOn
	case f.Mended():
		return succeededLater
	case f.Fate != "":
		return notMended
	}
	return ""
}

// MarkStyle returns the style of a failure's sign and word.
func (f *Failure) MarkStyle() termtext.Style {
	switch f.Sign() {
	case "~":
		return termtext.Slow
	case dialect.Done.Sign():
		return termtext.Good
	case dialect.Cancelled.Sign():
		return termtext.Plain
	}
	return termtext.Failure
}

// Style returns the style of a failure: red unless it was mended, its turn was done all the same, or
// it is the user's own doing.
func (f *Failure) Style() termtext.Style {
	if f.Mended() || f.wentOn || f.passed || f.stopped() {
		return termtext.Plain
	}
	return termtext.Failure
}

// about returns the event that a failure of a kind concerns, or nil.
func about(kind dialect.Failure, events []trace.Event) *trace.Event {
	for i := range events {
		e := &events[i]
		failed := e.Phase == trace.Ended && e.End == trace.Failed
		switch {
		case kind == dialect.FailedTool && e.Kind == trace.ToolCallEvent && failed,
			kind == dialect.FailedRequest && e.Kind == trace.CallEvent && failed,
			kind == dialect.Stopped && e.Kind == trace.TurnEvent && e.Phase == trace.Ended:
			return e
		}
	}
	return nil
}

// turnOf returns the turn that ended with a response to its prompt, or nil.
func turnOf(f *dialect.Frame, events []trace.Event) *trace.Turn {
	for i := range events {
		if e := &events[i]; e.Kind == trace.TurnEvent && e.Phase == trace.Ended && f.Does(dialect.Prompts) && e.Turn.Outcome.How == dialect.Errored {
			return e.Turn
		}
	}
	return nil
}

// turnName returns what to call a turn.
func turnName(t *trace.Turn) string { return fmt.Sprint("turn ", t.Number) }

// stopText says how a turn ended that did not fail with an error.
func stopText(t *trace.Turn) string {
	if t.StopReason == "refusal" {
		return "refused by the agent"
	}
	return t.Outcome.String()
}

// failedRequest says which request failed, and why.
func failedRequest(f *dialect.Frame, e *trace.Event, turn *trace.Turn) (name, why string) {
	name = termtext.Piece(f.Name())
	if f.Kind == wire.Response {
		why = termtext.Piece(dialect.ErrorText(wire.Get(f.Raw, "error")))
	}
	switch {
	case turn != nil:
		name, why = turnName(turn), termtext.Piece(turn.Outcome.Brief())
	case e != nil:
		name = callName(e)
	}
	if why == "" {
		why = cause.OfContent(wire.Get(f.Raw, "result", "content"))
	}
	return cmp.Or(name, "a request nobody has sent"), why
}

// because returns what follows the name of something that failed.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + cause.Cut(why, cause.Columns)
}

// saysNothing reports whether a turn, or setting up, failed without a message that says why.
func saysNothing(kind dialect.Failure, f *dialect.Frame) bool {
	switch {
	case kind == dialect.Stopped:
		return string(wire.Get(f.Raw, "params", "update", "stopReason")) == `"error"` // version 2
	case kind != dialect.FailedRequest || !dialect.Does(f.Method, dialect.Prompts|dialect.Opens|dialect.Initializes):
		return false
	}
	switch strings.ToLower(strings.TrimRight(dialect.ErrorText(wire.Get(f.Raw, "error")), ".")) {
	case "", "error", "internal error", "internal server error", "server error", "unknown error":
		return true
	}
	return false
}
