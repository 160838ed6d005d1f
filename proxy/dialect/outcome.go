package dialect

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// An Outcome says how a turn, a session or a tape ended. The zero value means that it has
// not ended.
type Outcome struct {
	How  How
	Text string // an error's text, or what the agent died of; from the wire, not sanitized
}

// A How is the kind of an outcome, in order of harm.
type How uint8

// The kinds.
const (
	NoOutcome How = iota
	Done
	Cancelled   // by the client
	OutOfTokens // or out of requests to the model
	RefusedTurn // by the model
	Errored
	Unrecorded // unknown: the answer may be among bytes that are missing on the tape
	CutOff     // unknown: the recording ends earlier
	Died       // the agent
	Running    // not yet known
)

var howNames = [...]string{"", "done", "cancelled", "token limit reached", "refused", "error", "answer not recorded", "recording cut off", "agent died", "running"}

var howSigns = [...]string{"", "✓", "■", "✗", "✗", "✗", "⚡", "⚡", "✗", "●"}

// Sign returns the sign of the kind, which tells good and bad apart without colours.
func (h How) Sign() string { return wire.Name(howSigns[:], uint8(h)) }

// String returns the kind in words.
func (h How) String() string { return wire.Name(howNames[:], uint8(h)) }

// IsBad reports whether something went wrong.
func (h How) IsBad() bool { return h > Cancelled && h < Running }

// String returns the outcome in words, such as `error: Overloaded (-32603)`.
func (o Outcome) String() string {
	switch {
	case o.Text == "":
		return o.How.String()
	case o.How == Done:
		return o.How.String() + " " + o.Text
	case o.How == OutOfTokens:
		return o.Text
	}
	return o.How.String() + ": " + o.Text
}

// Brief returns the outcome in words, without the word error if there is a message.
func (o Outcome) Brief() string {
	if o.How == Errored && o.Text != "" {
		return o.Text
	}
	return o.String()
}

// Or returns the more harmful of two outcomes.
func (o Outcome) Or(p Outcome) Outcome {
	if p.How > o.How {
		return p
	}
	return o
}

// maxOutcome limits the characters kept of an error.
const maxOutcome = 200

// OutcomeOf returns how a turn ended, given its error or stop reason, each as JSON or
// nil. An unknown stop reason is returned verbatim.
func OutcomeOf(err, stopReason []byte) Outcome {
	if wire.Present(err) {
		text := ErrorText(err)
		if code, ok := wire.Integer(wire.Get(err, "code")); ok && text == "" {
			text = fmt.Sprint(code)
		} else if ok {
			text = fmt.Sprintf("%s (%d)", text, code)
		}
		return Outcome{Errored, text}
	}
	switch reason := wire.Text(stopReason); reason {
	case "", "end_turn":
		return Outcome{How: Done}
	case "cancelled":
		return Outcome{How: Cancelled}
	case "refusal":
		return Outcome{How: RefusedTurn}
	case "error": // unstable in version 2, and of a subagent
		return Outcome{How: Errored}
	case "max_tokens":
		return Outcome{How: OutOfTokens}
	case "max_turn_requests":
		return Outcome{OutOfTokens, "request limit reached"}
	default:
		return Outcome{Done, "(" + firstLine(stopReason, maxOutcome) + ")"}
	}
}

// ErrorText returns the message of a JSON-RPC error and, since many messages are as general
// as Internal error, the first detail that its data gives: data itself, or the member of it
// that the libraries of agents fill.
func ErrorText(err []byte) string {
	text := withoutJSON(firstLine(wire.Get(err, "message"), maxOutcome))
	data := wire.Get(err, "data")
	details := [][]byte{data}
	for _, member := range [...]string{"details", "message", "error", "reason"} {
		details = append(details, wire.Get(data, member))
	}
	for _, one := range details {
		if detail := withoutJSON(firstLine(one, maxOutcome)); detail != "" && !strings.Contains(text, detail) {
			return strings.TrimPrefix(text+": "+detail, ": ")
		}
	}
	return text
}

// withoutJSON returns an error's text with the message in place of the JSON that it ends with, as
// agents write the answers of their providers.
func withoutJSON(text string) string {
	at := strings.IndexByte(text, '{')
	if at < 0 {
		return text
	}
	for _, path := range [...][]string{{"error", "message"}, {"message"}, {"error"}, {"detail"}} {
		if message := wire.Text(wire.Get([]byte(text[at:]), path...)); message != "" {
			return strings.TrimSpace(strings.TrimSpace(text[:at]) + " " + message)
		}
	}
	return text
}

// LeftOpen returns the outcome of a turn or request that is open at the end of a tape. ended
// says whether the end of the connection is on the tape, died is the outcome of the agent if
// it died (DiedOf), lost says that the answer may be missing on the tape, and turn is the
// outcome of a turn that the client has left (LeftTurn). Another request that the client has
// abandoned has no outcome.
func LeftOpen(ended bool, died Outcome, lost bool, turn Outcome) Outcome {
	switch {
	case !ended:
		return Outcome{How: CutOff}
	case died != (Outcome{}):
		return died
	case lost:
		return Outcome{How: Unrecorded}
	}
	return turn
}

// LeftTurn returns the outcome of a turn that was open when its client left, given when the
// client had first cancelled it and when it left; 0 if it did not, or that is unknown. An agent
// that has not ended a cancelled turn for CancelLimit has not answered.
func LeftTurn(cancelled, gone time.Duration) Outcome {
	switch {
	case cancelled == 0:
		return Outcome{Cancelled, "the client left"}
	case gone-cancelled >= CancelLimit:
		return Outcome{Errored, "no answer, though cancelled"}
	}
	return Outcome{How: Cancelled}
}

// noAnswer is the outcome of a call that the client made for a result and got none.
func noAnswer(method string) Outcome { return Outcome{Errored, "no answer to " + method} }

// signalNames are the names of signals by the words that Go has for them on Linux and macOS.
var signalNames = map[string]string{
	"hangup": "SIGHUP", "interrupt": "SIGINT", "quit": "SIGQUIT", "illegal instruction": "SIGILL", "aborted": "SIGABRT", "abort trap": "SIGABRT",
	"bus error": "SIGBUS", "floating point exception": "SIGFPE", "killed": "SIGKILL", "segmentation fault": "SIGSEGV", "broken pipe": "SIGPIPE",
	"alarm clock": "SIGALRM", "terminated": "SIGTERM",
}

// DiedOf returns the outcome of everything that was open when the agent exited with x.
func DiedOf(x *wire.Exit) Outcome {
	switch {
	case x.Error != "":
		return Outcome{Errored, "not started: " + x.Error}
	case x.Signal != "":
		return Outcome{Died, cmp.Or(signalNames[x.Signal], x.Signal)}
	}
	return Outcome{Died, fmt.Sprint("exit ", x.Code)}
}
