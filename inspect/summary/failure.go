package summary

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

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
		why = toolFault(update, printed)
		switch code, _ := exitOf(update); {
		case stoppedLine.MatchString(why):
			why = stoppedByYou
		case code == 1 && (why == "exit 1" || emptyLine.MatchString(why)) && saysNo(cmp.Or(command, e.ToolCall.ToolCall.Title)):
			why = foundNothing
		case isTimeout(command, code) && !saysFault(why):
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

// stoppedLine matches what is printed if the user has stopped a command.
var stoppedLine = regexp.MustCompile(`(?i)\b(?:stopped|interrupted|killed|terminated|cancelled|canceled|aborted) by (?:the )?user\b`)

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
	chain := parseCommand(command).chain
	return code == 124 && len(chain) > 0 && chain[len(chain)-1][0] == "timeout"
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
		why = toolText(wire.Get(f.Raw, "result", "content"))
	}
	return cmp.Or(name, "a request nobody has sent"), why
}

// because returns what follows the name of something that failed.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + cutWhy(why, whyColumns)
}

// cutWhy shortens a reason to so many columns. Of errors that explain one another, it keeps the last
// ones and the beginning of the first.
func cutWhy(why string, columns int) string {
	if termtext.Width(why) <= columns {
		return why
	}
	for at := 0; ; {
		next := strings.Index(why[at:], ": ")
		if next < 0 {
			cut := termtext.CutWords(why, columns)
			if at > 0 && termtext.Width(cut) < columns*2/3 { // a very long word is left out
				cut = termtext.CutWords("… "+why[at:], columns)
			}
			return cut
		}
		at += next + len(": ")
		switch room := columns - termtext.Width(why[at:]) - 1; {
		case room >= minHead:
			return termtext.CutWords(why[:at], room) + " " + why[at:]
		case room > 0:
			return "… " + why[at:]
		}
	}
}

// minHead is the smallest number of columns of the first of several errors that are told.
const minHead = 16

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
