package dialect

import (
	"github.com/acptap/acptap/proxy/wire"
)

// A turn is where a session stands between its prompts and what ends them. In
// version 1 the response ends a turn. In version 2 it only accepts the prompt,
// and a state_update says later that the work is done; the early draft began
// with the one and went over to the other, so there the response's stopReason
// tells. Prompts may be accepted while others are worked on; one idle ends all
// that were accepted.
type turn struct {
	Waiting  int  `json:"waiting,omitempty"`  // prompts without a response
	Ended    int  `json:"ended,omitempty"`    // of those, how many were ended by a hasty idle
	Accepted bool `json:"accepted,omitempty"` // there is one with a response that did not end it

	Cancelled bool `json:"cancelled,omitempty"` // the client has cancelled the work
}

// open reports whether a prompt is worked on.
func (u turn) open() bool { return u.Waiting > u.Ended || u.Accepted }

// cancelTurns takes a session/cancel. Without a turn it cancels nothing.
func (t *Tracker) cancelTurns(session string) {
	if u, ok := t.turns.Get(session); ok && u.open() {
		u.Cancelled = true
		t.turns.Set(session, u)
	}
}

// prompted takes a prompt.
func (t *Tracker) prompted(s *step) {
	s.annotation.Events |= TurnBegan
	s.facts.Prompt = promptLine(wire.Get(s.Params, "prompt"))
	t.restored.Drop(s.annotation.Session)
	u, _ := t.turns.Get(s.annotation.Session)
	if !u.open() {
		t.pace.stop(s.annotation.Session)
	}
	u.Waiting++
	t.turns.Set(s.annotation.Session, u)
}

// accepted takes the response to a prompt.
func (t *Tracker) accepted(s *step) {
	session := s.annotation.Session
	u, _ := t.turns.Get(session)
	u.Waiting = max(u.Waiting-1, 0)
	switch {
	case u.Ended > 0:
		u.Ended--
	case s.failed(), t.conn.Dialect == ACPv1, quoted(wire.Get(s.Result, "stopReason")):
		s.annotation.Events |= TurnEnded
		s.facts.Outcome = OutcomeOf(s.Error, wire.Get(s.Result, "stopReason"))
	default:
		u.Accepted = true
	}
	t.keepTurn(session, u)
}

// idle takes the state_update that says so. It ends what was accepted; if there
// is nothing, then the prompt whose response is yet to come.
func (t *Tracker) idle(s *step, stopReason []byte) {
	session := s.annotation.Session
	u, ok := t.turns.Get(session)
	switch {
	case !ok, !u.Accepted && u.Ended == u.Waiting:
		return // background work, or the state at the beginning
	case u.Accepted:
		u.Accepted = false
	default:
		u.Ended = u.Waiting
	}
	s.annotation.Events |= TurnEnded
	s.facts.Outcome = OutcomeOf(nil, stopReason)
	t.keepTurn(session, u)
}

func (t *Tracker) keepTurn(session string, u turn) {
	u.Cancelled = u.Cancelled && u.open()
	if u == (turn{}) {
		t.turns.Drop(session)
		return
	}
	t.turns.Set(session, u)
}

// promptLine returns the first line of the first text in a prompt's blocks.
func promptLine(blocks []byte) string {
	for _, block := range wire.Elements(blocks) {
		if line := firstLine(wire.Get(block, "text"), 80); line != "" {
			return line
		}
	}
	return ""
}
