package trace

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// An Event reports that something began, changed or ended with a frame. A late update may
// change something that has ended; then its last Ended event counts.
//
// Events with the same Kind, Run, First and Entry are about the same thing.
type Event struct {
	Kind  Kind
	Phase Phase
	End   End // how it ended; only for Ended

	// Reason is the protocol's word for it: the stop reason of a turn, the code of an
	// error, the status of a tool call, the outcome of a permission, the method that opened
	// or closed a session. It is empty if there is none.
	Reason string

	Run     int           // index in Trace.Runs
	First   uint64        // Seq of the frame with which it began
	Entry   int           // index of the message in that frame, if that is a batch
	Began   time.Duration // when it began, since the tape began
	Seq     uint64        // Seq of the frame with which the event happened; for StillOpen, the last one of the tape
	At      time.Duration // when the event happened, since the tape began
	Untimed bool          // one of these times is unknown

	Dir       wire.Direction // of a call: the direction of its request
	Method    string         // of a call
	ID        string         // of a call as JSON text, of a tool call as text
	SessionID string         // empty: the connection's
	InTurn    int            // number of the turn in which it began, or of the turn itself; 0: none
	Cancelled bool           // it was cancelled; it may still succeed
	Repeated  bool           // part of the history that the agent repeats after a load

	// The subject of the event. These belong to the Trace and keep changing.
	Session    *Session    // nil for the connection and its calls
	Turn       *Turn       // of a turn
	Call       *Call       // of a call
	ToolCall   *Entity     // of a tool call, of a permission for one, or of a subagent
	Permission *Permission // of a permission
	Question   *Question   // of a call that asks the user for input; nil outside of sessions
}

// A Kind is what an Event is about.
type Kind uint8

// The kinds. A prompt is a turn and a call; a permission is a call too.
const (
	ConnectionEvent Kind = iota // from the first frame of a tape to its end
	SessionEvent                // on one tape: from the first frame that proves it until it is closed, deleted, or reported unknown by the agent
	TurnEvent
	CallEvent
	ToolCallEvent
	PermissionEvent
	SubagentEvent // until its work ends; it may work again
)

var kindNames = [...]string{"connection", "session", "turn", "call", "tool call", "permission", "subagent"}

func (k Kind) String() string { return wire.Name(kindNames[:], uint8(k)) }

// A Phase says whether something began, changed or ended.
type Phase uint8

// The phases.
const (
	Began   Phase = iota
	Changed       // a tool call has another status, a call or a turn is cancelled, a turn has its first output, a session or connection is set up
	Ended
)

var phaseNames = [...]string{"began", "changed", "ended"}

func (p Phase) String() string { return wire.Name(phaseNames[:], uint8(p)) }

// An End is how something ended.
type End uint8

// The ends.
const (
	NoEnd      End = iota // it continues
	Completed             // without an error
	Failed                // with an error
	Cancelled             // its end says that it was cancelled
	Unfinished            // a tool call that was open when its turn ended
	Replaced              // a call whose id a later call reused
	StillOpen             // it was still open when the tape ended
	Forgotten             // unknown: more was open than a Trace remembers
)

var endNames = [...]string{"", "completed", "failed", "cancelled", "unfinished", "replaced", "still open", "forgotten"}

// Known reports whether something ended properly, so that its duration is known.
func (e End) Known() bool { return e == Completed || e == Failed || e == Cancelled }

func (e End) String() string { return wire.Name(endNames[:], uint8(e)) }
