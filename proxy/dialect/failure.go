package dialect

import (
	"bytes"

	"github.com/acptap/acptap/proxy/wire"
)

// A Failure says how a frame reports that something went wrong. A frame has only one: the
// first kind that applies.
//
// These are not failures: what the user rejected, declined or dismissed, with the tool call
// that it was about; an agent that its client ended by a signal or by leaving, a request that its
// sender cancelled before it hung, an error in response to an MCP request that its sender had
// cancelled, a request that the agent sent after its client had left, the tool calls of a
// turn that the client cancelled, and a server's refusal of server/discover, which tells a
// client whether it must send initialize (MCP 2026-07-28, lifecycle).
type Failure uint8

// The kinds of failures.
const (
	NoFailure     Failure = iota
	FailedRequest         // a response with an error, or the result of an MCP tool that says isError
	FailedTool            // an ACP tool call has failed; reported once per call
	Stopped               // a turn ended badly without an error: the model refused, or tokens or requests ran out
	Unanswered            // a request without a response at the end of the tape, or an MCP call that hung until it was cancelled
	InvalidLine           // a line that is not JSON-RPC
	Gap                   // bytes are missing here, or may be missing from here on
	BadExit               // the agent ended with a status other than 0, or could not be started
)

var failureNames = [...]string{"", "error", "tool", "stopped", "unanswered", "invalid", "gap", "exit"}

// String returns the name of a kind, such as stopped, or "" for NoFailure.
func (k Failure) String() string { return wire.Name(failureNames[:], uint8(k)) }

// MarshalText returns the name of k.
func (k Failure) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText accepts a name that String returns.
func (k *Failure) UnmarshalText(text []byte) error {
	return wire.ParseName(failureNames[:], "failure", text, (*uint8)(k))
}

// Failure returns how f reports that something went wrong. A frame in place of another
// adds nothing new. No frame alone shows that a request is Unanswered at the end of the tape:
// that takes all frames up to there.
func (f *Frame) Failure() Failure {
	if f.Origin == wire.Rewritten {
		return NoFailure
	}
	return FailureOf(&f.Frame, &f.Annotation)
}

// FailureOf is Failure for callers that look at only one end of the connection, where a
// substituted frame is the one that counts.
func FailureOf(f *wire.Frame, a *Annotation) Failure {
	switch e := a.Events; {
	case f.Failed && !a.Does(Discovers) && !e.Has(AnswerUnwanted):
		return FailedRequest
	case f.Kind == wire.Invalid:
		return InvalidLine
	case e.Has(CallFailed):
		return FailedTool
	case e.Has(TurnStopped):
		return Stopped
	case e.Has(RequestCancelled | slowEvents[Hung]):
		return Unanswered
	case e.Has(BytesLost):
		return Gap
	case e.Has(ExitFailed):
		return BadExit
	}
	return NoFailure
}

// FailureEvents are the events that each count as a failure on their own.
const FailureEvents = CallFailed | TurnStopped | BytesLost | ExitFailed

// toolCall handles the status of a tool call, as JSON. A call fails only once, however
// often its status is repeated, unless it gets another status in between. A failure
// repeated when a session is loaded is history. A call that fails because the client
// cancelled the turn, or because the user rejected it or gave it no input, is not a failure:
// each frame that repeats its status gets CallCancelled.
func (t *Tracker) toolCall(s *step, id, status []byte) {
	failed := string(status) == `"failed"`
	begins := s.annotation.Update == "tool_call"
	if !begins && !wire.Present(status) {
		return
	}
	key, began := t.runs(s, id, status)
	cancelled, again := t.failed.Get(key)
	switch past, _ := t.restored.Get(key.Session); {
	case !failed:
		if again {
			t.failed.Drop(key)
		}
		return
	case again:
	default:
		turn, _ := t.turns.Get(key.Session)
		cancelled = turn.cancels(began) && !past
		t.failed.Set(key, cancelled)
		if !past && !cancelled && s.Origin != wire.Injected {
			s.annotation.Events |= CallFailed
		}
	}
	if cancelled {
		s.annotation.Events |= CallCancelled
	}
}

// A callOf identifies a tool call.
type callOf struct {
	Session string `json:"session"`
	ID      string `json:"id"` // as JSON, or its digest
}

// IsFinal reports whether a status ends a tool call or a plan entry of ACP, or a task of MCP.
func IsFinal(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// maxRejects limits the bytes of option ids kept for one question.
const maxRejects = 4 << 10

// rejects returns the ids of the options that deny the permission.
func rejects(options []byte) (ids idList) {
	for _, option := range wire.Elements(options) {
		kind := wire.Get(option, "kind")
		if id := wire.Get(option, "optionId"); bytes.HasPrefix(kind, []byte(`"reject_`)) && len(ids)+len(id) <= maxRejects {
			ids.add(wire.Text(id))
		}
	}
	return ids
}

// askedFor returns the key of the tool call for which a permission or input is requested, or
// nothing.
func askedFor(params []byte) string {
	for _, path := range [][]string{{"toolCallId"}, {"toolCall", "toolCallId"}, {"subject", "toolCall", "toolCallId"}, {"subject", "toolCallId"}} {
		if id := wire.Get(params, path...); wire.Present(id) {
			return IDKey(id)
		}
	}
	return ""
}

// permitted handles the response to a session/request_permission. A cancelled one is not
// a denial: the turn was cancelled.
func (t *Tracker) permitted(s *step, c *call) {
	outcome := wire.Get(s.Result, "outcome")
	switch wire.Text(wire.Get(outcome, "outcome")) {
	case "cancelled":
		s.annotation.Events |= PermissionDropped
	case "selected":
		chosen, key := c.choice(wire.Text(wire.Get(outcome, "optionId"))), callOf{c.Session, c.Tool}
		switch s.annotation.Events |= chosen; {
		case c.Tool == "":
		case chosen == PermissionRefused:
			t.failed.Set(key, true)
			t.pace.tools.Drop(key)
		default:
			t.failed.Drop(key)
		}
	}
}

// choice returns the event of choosing an option of a permission.
func (c *call) choice(option string) Events {
	for id := range c.Rejects.all() {
		if id == option {
			return PermissionRefused
		}
	}
	return PermissionGranted
}

// elicited handles the response to an elicitation/create.
func (s *step) elicited() {
	switch wire.Text(wire.Get(s.Result, "action")) {
	case "accept":
		s.annotation.Events |= PermissionGranted
	case "decline":
		s.annotation.Events |= PermissionRefused
	case "cancel":
		s.annotation.Events |= PermissionDropped
	}
}
