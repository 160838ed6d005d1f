// Package stall says what hangs on a tape, while that is recorded or afterwards: an
// agent that is silent in a turn, a permission that nobody gives, a request without an
// answer. A Watch is fed with the frames of one tape and with the time, and says what
// begins to hang and what goes on again; Tapes does so for all tapes of a store that
// are being recorded.
//
// Who is waited for is found as in the parts of a turn (record/trace), and what is open
// is what the trace says is open. Nothing that hangs is stored: it follows from the times
// of the frames. The package reads no clock. It takes any frames and any times, and its
// memory is bounded. Where bytes are missing it forgets what was open, since nobody knows
// what they said.
package stall

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Kind is what hangs.
type Kind uint8

// The kinds.
const (
	Silent Kind = iota // a turn waits for the agent alone, and nothing of its session comes
	Tool               // a turn waits for a tool or a command, and nothing of its session comes
	Asked              // the user is asked: for a permission, for input, to log in; nobody is to blame
	Client             // the client is to read or write a file, or to use a terminal
	Setup              // a connection or a session is set up, and nothing of that session comes
	Hung               // any other request has no answer, and no progress
	Cancel             // what was cancelled does not end
	Gone               // the agent ended in the middle of work, or does not end although its client has gone
	noKind
)

var kindNames = [...]string{"silent", "tool", "asked", "client", "setup", "hung", "cancel", "gone"}

// String returns the name of a kind, such as silent.
func (k Kind) String() string { return wire.Name(kindNames[:], uint8(k)) }

// MarshalText returns the name of k.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// DefaultAfter is how long an agent may be silent.
const DefaultAfter = dialect.SilentLimit

// patience is how long each kind may last where After is DefaultAfter. The first limits are
// those of what is slow on a tape. People who were asked take minutes; a client has its
// files at hand.
var patience = [...]time.Duration{
	Silent: DefaultAfter,
	Tool:   dialect.ToolLimit,
	Asked:  2 * time.Minute,
	Client: 10 * time.Second,
	Setup:  dialect.SetupLimit,
	Hung:   dialect.HungLimit,
	Cancel: 10 * time.Second,
}

// afterClient is how long an agent may take to end when its client has closed stdin,
// whatever After is. Clients kill it soon.
const afterClient = 5 * time.Second

// Patience returns how long a kind may last before it hangs, where an agent may be
// silent for after.
func Patience(k Kind, after time.Duration) time.Duration {
	if k >= Gone {
		return afterClient
	}
	return time.Duration(float64(patience[k]) / float64(DefaultAfter) * float64(after))
}

// A Stall is something that hangs.
type Stall struct {
	Kind    Kind
	Session string        // id; empty: it is the connection's
	Turn    int           // number of the turn; 0: none
	Frame   uint64        // Seq of the last frame before: of the session, or the request
	Since   time.Duration // when that came, since the tape began
	Text    string        // all of it in words, clean, such as `silent for 30 s: turn 4, after plan (frame 81)`
}

// A Change is that something begins to hang, or that it does not hang any more. Then
// Text says so.
type Change struct {
	Stall
	At   time.Duration // when, since the tape began
	Over bool
	Was  string // of what is over: all of it in words, such as `silent for 47 s: turn 4, after plan; then tool_call (frame 82)`
	By   uint64 // of what is over: Seq of the frame that ended it; 0: the end of the tape
	Goes bool   // that frame is traffic: the work goes on
}
