// Package stall says what hangs on a tape, while it is being recorded or afterwards: an
// agent that is silent in a turn, a permission without an answer, a request without a
// response. A Watch takes the frames of one tape and the time, and reports what begins to
// hang and what goes on again; Tapes does so for all tapes of a store that are being
// recorded.
//
// What a turn waits for is determined as in record/trace, and what is open is what the
// trace reports as open. Nothing that hangs is stored: it follows from the times of the
// frames. The package reads no clock. It accepts any frames and any times, and its memory
// is bounded. Where bytes are missing it forgets what was open, since they may have ended
// it.
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
	Asked              // the user is asked: for a permission, for input, to log in; not a fault
	Client             // the client must read or write a file, or use a terminal
	Setup              // a connection or a session is set up, and nothing of that session comes
	Hung               // any other request has no answer, and no progress
	Cancel             // something cancelled does not end
	Gone               // the agent ended in the middle of work, or does not end although its client has left
	noKind
)

var kindNames = [...]string{"silent", "tool", "asked", "client", "setup", "hung", "cancel", "gone"}

// String returns the name of a kind, such as silent.
func (k Kind) String() string { return wire.Name(kindNames[:], uint8(k)) }

// MarshalText returns the name of k.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// DefaultAfter is how long an agent may be silent.
const DefaultAfter = dialect.SilentLimit

// patience is how long each kind may last if After is DefaultAfter. The first limits are
// those that dialect sets for slow frames. People take minutes to answer; a client has its
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

// afterClient is how long an agent may take to end after its client has closed stdin,
// whatever After is. Clients soon kill it.
const afterClient = 5 * time.Second

// Patience returns how long a kind may last before it hangs, if an agent may be silent for
// after.
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
	Frame   uint64        // Seq of the last frame of the session before it, or of the request
	Since   time.Duration // when that frame came, since the tape began
	Text    string        // complete text, clean, such as `silent for 30 s: turn 4, after plan (frame 81)`
}

// A Change is that something begins to hang, or no longer hangs; then Text says so.
type Change struct {
	Stall
	At   time.Duration // when, since the tape began
	Over bool
	Was  string // if Over: complete text, such as `silent for 47 s: turn 4, after plan; then tool_call (frame 82)`
	By   uint64 // if Over: Seq of the frame that ended it; 0: the end of the tape
	Goes bool   // that frame is traffic, so the work goes on
}
