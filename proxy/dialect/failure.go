package dialect

import "github.com/acptap/acptap/proxy/wire"

// A Failure says in which way a frame reports that something went wrong. A frame has at
// most one: the first kind that applies.
//
// These are not failures: an agent that its client ended by a signal or by going away, a
// request that its sender cancelled, a request that the agent sent after its client had
// gone, the tool calls of a turn that the client cancelled, and a server's refusal of
// server/discover, which tells a client whether it must send initialize (MCP 2026-07-28,
// lifecycle).
type Failure uint8

// The kinds of failures.
const (
	NoFailure     Failure = iota
	FailedRequest         // a response with an error, or the result of an MCP tool that says isError
	FailedTool            // an ACP tool call has failed; said once of each call
	Refused               // the user refused a permission, or declined an elicitation
	Unanswered            // a request without a response at the end of the tape
	InvalidLine           // a line that is not JSON-RPC
	Gap                   // bytes are missing here, or may be from here on
	BadExit               // the agent ended with a status other than 0, or could not be started
)

var failureNames = [...]string{"", "error", "tool", "refused", "unanswered", "invalid", "gap", "exit"}

// String returns the name of a kind, such as refused; nothing for NoFailure.
func (k Failure) String() string { return wire.Name(failureNames[:], uint8(k)) }

// MarshalText returns the name of k.
func (k Failure) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText takes a name that String returns.
func (k *Failure) UnmarshalText(text []byte) error {
	return wire.ParseName(failureNames[:], "failure", text, (*uint8)(k))
}

// Failure returns in which way f reports that something went wrong. A frame in place of
// another adds nothing new. No frame alone shows that a request is Unanswered: that takes
// all frames up to the end of the tape.
func (f *Frame) Failure() Failure {
	if f.Origin == wire.Rewritten {
		return NoFailure
	}
	return FailureOf(&f.Frame, &f.Annotation)
}

// FailureOf is Failure for callers that look at only one end of the connection, where a
// frame in place of another is the one that counts.
func FailureOf(f *wire.Frame, a *Annotation) Failure {
	switch e := a.Events; {
	case f.Failed && !a.Does(Discovers):
		return FailedRequest
	case f.Kind == wire.Invalid:
		return InvalidLine
	case e.Has(CallFailed):
		return FailedTool
	case e.Has(PermissionRefused):
		return Refused
	case e.Has(BytesLost):
		return Gap
	case e.Has(ExitFailed):
		return BadExit
	}
	return NoFailure
}

// FailureEvents are the events that are failures.
const FailureEvents = CallFailed | PermissionRefused | BytesLost | ExitFailed
