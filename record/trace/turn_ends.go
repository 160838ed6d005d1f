package trace

import (
	"cmp"
	"slices"
)

// TurnEnds reports each turn once, when everything about it is known: its cost may be
// reported until the next turn begins, and in version 2 a turn may end twice. Its zero
// value is ready to use.
type TurnEnds struct {
	sessions map[*Session]*turnEnds
}

// A TurnEnd is a turn that has ended or was left open, and how.
type TurnEnd struct {
	*Turn
	Session *Session
	How     End
	Reason  string // as in Event
}

// turnEnds are the turns of a session.
type turnEnds struct {
	last *Turn   // the turn that began last; nil: none
	open []*Turn // turns without an end
	done *TurnEnd
}

// Observe takes an event, and returns the turns that cannot change any more: the one that
// ended last in the session, when another turn begins or ends there or the session ends;
// and at once those that are StillOpen or Forgotten.
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
		if len(t.sessions) > maxSessions {
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
		return nil // it ends once more
	}
	s.open = slices.Delete(s.open, at, at+1)
	over, end := s.take(), TurnEnd{e.Turn, e.Session, e.End, e.Reason}
	if e.End == StillOpen || e.End == Forgotten {
		return append(over, end)
	}
	s.done = &end
	return over
}

// take returns the turn that ended last, unless it was returned already.
func (s *turnEnds) take() []TurnEnd {
	if s.done == nil {
		return nil
	}
	over := []TurnEnd{*s.done}
	s.done = nil
	return over
}

// Last returns the turn that began last in a session; nil: none is known.
func (t *TurnEnds) Last(of *Session) *Turn {
	if s := t.sessions[of]; s != nil {
		return s.last
	}
	return nil
}

// End returns the turns that have ended but were not returned yet, in order.
func (t *TurnEnds) End() []TurnEnd {
	var over []TurnEnd
	for _, s := range t.sessions {
		over = append(over, s.take()...)
	}
	slices.SortFunc(over, func(a, b TurnEnd) int { return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Prompt, b.Prompt)) })
	return over
}
