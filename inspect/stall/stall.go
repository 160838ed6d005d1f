// Package stall says what hangs on a tape, while it is being recorded or afterwards: an
// agent that is silent in a turn, a permission without an answer, a request without a
// response. A Watch is fed the frames of one tape and the time, and reports what begins
// to hang and what resumes; Tapes does so for all tapes being recorded in a store.
//
// record/trace determines what a turn waits for, and reports what is open. Stalls are not
// stored: they follow from the times of the frames. The package reads no clock. It
// accepts any frames and any times, and its memory is bounded. Where bytes are missing it
// forgets what was open, since they may have ended it.
package stall

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
)

// A Kind says what hangs.
type Kind uint8

// The kinds.
const (
	Silent Kind = iota // a turn waits for the agent alone, and its session is quiet
	Tool               // a turn waits for a tool or a command, and its session is quiet
	Asked              // the user is asked for a permission, for input, or to log in; not a fault
	Client             // the client must read or write a file, or use a terminal
	Setup              // a connection or session is being set up, and that session is quiet
	Hung               // any other request without an answer or progress
	Cancel             // something cancelled does not end
	Gone               // the agent exited in the middle of work, or does not exit although its client has left
	Server             // an MCP server that the client named is not started; a Watch does not see it, since servers have tapes of their own
)

// kinds gives each kind its name, how long it may last if After is DefaultAfter, and its
// descriptions: in full, while it lasts and once it has ended, and in brief. The limits
// that dialect sets are those for slow frames. People take minutes to answer; a client
// has its files at hand.
var kinds = [...]struct {
	name             string
	patience         time.Duration
	now, then, brief string
}{
	Silent: {"silent", DefaultAfter, "silent for", "silent for", "silent"},
	Tool:   {"tool", dialect.ToolLimit, "tool silent for", "tool silent for", "tool"},
	Asked:  {"asked", 2 * time.Minute, "waits for you for", "waited for you for", "asks you"},
	Client: {"client", 10 * time.Second, "no answer by the client for", "no answer by the client for", "client"},
	Setup:  {"setup", dialect.SetupLimit, "set-up silent for", "set-up silent for", "setup"},
	Hung:   {"hung", dialect.HungLimit, "no answer for", "no answer for", "no answer"},
	Cancel: {"cancel", 10 * time.Second, "cancel not confirmed for", "cancel not confirmed for", "cancel"},
	Gone:   {"gone", afterClient, "gone for", "gone for", "gone"},
	Server: {"server", 10 * time.Second, "not started for", "not started for", "server"},
}

// String returns the name of a kind, such as silent.
func (k Kind) String() string { return kinds[k].name }

// MarshalText returns the name of k.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// DefaultAfter is how long an agent may be silent.
const DefaultAfter = dialect.SilentLimit

// afterClient limits the time an agent may take to exit after its client has closed
// stdin, regardless of After. Clients soon kill it.
const afterClient = 5 * time.Second

// Patience returns how long a kind may last before it hangs, if an agent may be silent
// for after.
func Patience(k Kind, after time.Duration) time.Duration {
	if k == Gone {
		return afterClient
	}
	return time.Duration(float64(kinds[k].patience) / float64(DefaultAfter) * float64(after))
}

// A Stall is something that hangs.
type Stall struct {
	Kind    Kind
	Session string        // id; empty: it concerns the connection
	Turn    int           // number of the turn; 0: none
	Frame   uint64        // Seq of the session's preceding frame, or of the request
	Since   time.Duration // when that frame came, relative to the start of the tape
	Text    string        // full, clean text, such as `silent for 30 s: turn 4, after plan (frame 81)`
}

// A Change reports that something begins to hang, or no longer hangs; Text then says so.
type Change struct {
	Stall
	At   time.Duration // when, relative to the start of the tape
	Over bool
	Was  string // if Over: full text, such as `silent for 47 s: turn 4, after plan; then tool_call (frame 82)`
	By   uint64 // if Over: Seq of the frame that ended it; 0: the end of the tape
	Goes bool   // that frame is traffic, so the work continues
}
