package dialect

import (
	"github.com/acptap/acptap/proxy/wire"
)

// A turn records the state of a session's prompts. In version 1 the response ends a turn.
// In version 2 the response only accepts the prompt, and a later state_update reports
// that the work is done. The early draft changed from the former to the latter, so there
// a stopReason in the response decides. Prompts may be accepted while the agent works on
// others; one idle ends all accepted ones.
type turn struct {
	Waiting  int  `json:"waiting,omitempty"`  // prompts without a response
	Ended    int  `json:"ended,omitempty"`    // how many of those an early idle has ended
	Accepted bool `json:"accepted,omitempty"` // a prompt has a response that did not end it

	Cancelled bool   `json:"cancelled,omitempty"` // the client has cancelled the work, and sent no prompt since
	Resumed   uint64 `json:"resumed,omitempty"`   // Seq of the first prompt after the last cancelled work; 0: none
}

// cancels reports whether the client has cancelled what began with a frame.
func (u turn) cancels(began uint64) bool { return u.Cancelled || began < u.Resumed }

// open reports whether the agent works on a prompt.
func (u turn) open() bool { return u.Waiting > u.Ended || u.Accepted }

// cancelTurns handles a session/cancel. Without a turn it cancels nothing.
func (t *Tracker) cancelTurns(session string) {
	if u, ok := t.turns.Get(session); ok && u.open() {
		u.Cancelled = true
		t.turns.Set(session, u)
	}
}

// prompted handles a prompt.
func (t *Tracker) prompted(s *step) {
	s.annotation.Events |= TurnBegan
	s.facts.Prompt = promptLine(wire.Get(s.Params, "prompt"))
	t.restored.Drop(s.annotation.Session)
	u, _ := t.turns.Get(s.annotation.Session)
	if !u.open() {
		t.stopTools(s.annotation.Session, u.Cancelled)
	}
	if u.Cancelled {
		u.Cancelled, u.Resumed = false, s.Seq
	}
	u.Waiting++
	t.turns.Set(s.annotation.Session, u)
}

// accepted handles the response to a prompt.
func (t *Tracker) accepted(s *step) {
	session := s.annotation.Session
	u, _ := t.turns.Get(session)
	u.Waiting = max(u.Waiting-1, 0)
	switch {
	case u.Ended > 0:
		u.Ended--
	case s.failed(), t.conn.Dialect == ACPv1, quoted(wire.Get(s.Result, "stopReason")):
		s.ends(OutcomeOf(s.Error, wire.Get(s.Result, "stopReason")))
	default:
		u.Accepted = true
	}
	t.keepTurn(session, u)
}

// idle handles an idle state_update. It ends the accepted prompts; if there are none, those
// whose responses are yet to come.
func (t *Tracker) idle(s *step, stopReason []byte) {
	session := s.annotation.Session
	u, ok := t.turns.Get(session)
	switch {
	case !ok, !u.Accepted && u.Ended == u.Waiting:
		return // background work, or the initial state
	case u.Accepted:
		u.Accepted = false
	default:
		u.Ended = u.Waiting
	}
	s.ends(OutcomeOf(nil, stopReason))
	t.keepTurn(session, u)
}

// ends notes that a frame ends a turn.
func (s *step) ends(how Outcome) {
	s.annotation.Events |= TurnEnded
	s.facts.Outcome = how
	if how.How.IsBad() && !s.failed() {
		s.annotation.Events |= TurnStopped
	}
}

func (t *Tracker) keepTurn(session string, u turn) {
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
