package dialect

import "github.com/acptap/acptap/proxy/wire"

// A Failure says in which way a frame tells that something went wrong. A frame is
// one failure at most: the first of the kinds that it is.
//
// Four ends are in order: of an agent whose client has ended it, by a signal that was
// passed on or by going away, of a request that its sender has cancelled, of one that
// the agent sent when its client had gone, and of the tool calls of a turn that the
// client has cancelled. So is that a server refuses server/discover: with it a client finds
// out whether it has to say initialize (MCP 2026-07-28, lifecycle).
type Failure uint8

// The kinds of failures.
const (
	NoFailure     Failure = iota
	FailedRequest         // a response with an error, or the result of an MCP tool that says isError
	FailedTool            // an ACP tool call has failed; said once of each call
	Refused               // the user refused a permission, or declined an elicitation
	Unanswered            // a request without a response, when the tape has ended
	InvalidLine           // a line that is no JSON-RPC
	Gap                   // bytes are missing here, or may be from here on
	BadExit               // the agent ended with another status than 0, or could not be started
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

// Failure returns in which way f tells that something went wrong. What stands in
// the place of another frame tells nothing new. That a request is Unanswered no
// frame tells by itself: it takes all frames up to the end of the tape.
func (f *Frame) Failure() Failure {
	if f.Origin == wire.Rewritten {
		return NoFailure
	}
	return FailureOf(&f.Frame, &f.Annotation)
}

// FailureOf is Failure for who looks at one end of the connection only, where a
// frame in the place of another is the one that counts.
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
