package trace

import (
	"cmp"
	"slices"
	"time"
)

// TurnEnds reports each turn once, when everything about it is known. Its cost may be reported
// until the next turn begins, and in version 2 a turn may end twice. The zero value is ready
// to use.
type TurnEnds struct {
	sessions map[*Session]*turnEnds
}

// A TurnEnd is how a turn ended, or that it was left open or continues.
type TurnEnd struct {
	*Turn
	Session *Session
	How     End
	Reason  string        // as in Event
	At      time.Duration // when it ended; if it has no end, the time of the tape's last frame
}

// Spend returns how the time of the turn was spent, up to At.
func (t *TurnEnd) Spend() Spend { return t.Turn.Spend(t.At) }

// turnEnds are the turns of a session.
type turnEnds struct {
	last *Turn   // the turn that began last; nil: none
	open []*Turn // turns without an end
	done *TurnEnd
}

// Observe handles an event and returns the turns that can no longer change. A turn that ended
// is returned when another turn of its session begins or ends, or the session ends. A turn
// that is StillOpen or Forgotten is returned at once.
func (t *TurnEnds) Observe(e *Event) []TurnEnd {
	if e.Kind != TurnEvent && (e.Kind != SessionEvent || e.Phase != Ended) {
		return nil
	}
	s := t.sessions[e.Session]
	if s == nil {
		if t.sessions == nil {
			t.sessions = map[*Session]*turnEnds{}
		}
		s = &turnEnds{}
		t.sessions[e.Session] = s
	}
	if e.Kind == SessionEvent {
		if len(s.open) == 0 {
			delete(t.sessions, e.Session)
		}
		return s.take()
	}
	switch e.Phase {
	case Began:
		s.last, s.open = e.Turn, append(s.open, e.Turn)
		return s.take()
	case Ended:
		return s.end(e)
	}
	return nil
}

// end handles the end of a turn.
func (s *turnEnds) end(e *Event) []TurnEnd {
	at := slices.Index(s.open, e.Turn)
	if at < 0 {
		return nil // it may end again
	}
	s.open = slices.Delete(s.open, at, at+1)
	over, end := s.take(), TurnEnd{e.Turn, e.Session, e.End, e.Reason, e.At}
	if e.End == StillOpen || e.End == Forgotten {
		return append(over, end)
	}
	s.done = &end
	return over
}

// take returns the turn that ended last, unless it was already returned.
func (s *turnEnds) take() []TurnEnd {
	if s.done == nil {
		return nil
	}
	over := []TurnEnd{*s.done}
	s.done = nil
	return over
}

// Last returns the turn that began last in a session, or nil if none is known.
func (t *TurnEnds) Last(of *Session) *Turn {
	if s := t.sessions[of]; s != nil {
		return s.last
	}
	return nil
}

// Rest returns the turns that Observe has not yet returned, in order, both ended and
// continuing ones. now is the time of the tape's last frame.
func (t *TurnEnds) Rest(now time.Duration) []TurnEnd {
	var rest []TurnEnd
	for of, s := range t.sessions {
		if s.done != nil {
			rest = append(rest, *s.done)
		}
		for _, turn := range s.open {
			rest = append(rest, TurnEnd{Turn: turn, Session: of, At: now})
		}
	}
	slices.SortFunc(rest, func(a, b TurnEnd) int { return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Prompt, b.Prompt)) })
	return rest
}
