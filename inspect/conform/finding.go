package conform

import "time"

// A Finding is one breach of a rule.
type Finding struct {
	Rule     *Rule
	Clause   *Clause // that it breaks
	Strength Strength
	Fault    Fault // Client, Agent or Acptap
	Tape     int   // which tape, from 0; Checker.Next begins another
	Evidence

	Session string        // empty: none
	At      time.Duration // of the frame
	Method  string        // of a response: its request's
	Update  string        // variant of a session/update
}

// Evidence is what a rule says of a breach.
type Evidence struct {
	// Text says in one clause what the side at fault did, such as "answered end_turn,
	// 9 ms after session/cancel (frame 58)". It begins with a verb in the past or a
	// noun, and names other frames as "frame N".
	Text string

	Path string // of the value in the message, as in dialect.Field; empty: the message
	Want string // what should be there; empty: Text says it
	Got  string // what is there: JSON, or bytes as they came

	Seq     uint64   // of the frame; 0: that of the step
	Entry   int      // index in the batch, from 0; -1: no batch. The engine sets it, unless Seq is set
	Because []uint64 // frames that prove it

	By       Fault    // who is at fault; Sender: as the rule says
	Of       *Call    // a request that the breach is about; where that is not whole, nobody is accused
	In       *session // likewise a session, beside that of the step
	Strength Strength // at most this; None: that of the clause
}
