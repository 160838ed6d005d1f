package trace

import (
	"cmp"
	"slices"
)

// TurnEnds tells of each turn once, when all is known of it: what it has cost may be told
// until the next one begins, and in version 2 a turn may end twice. Its zero value is
// ready to use.
type TurnEnds struct {
	sessions map[*Session]*turnEnds
}

// A TurnEnd is a turn that has ended, or that is left open, and how.
type TurnEnd struct {
	*Turn
	Session *Session
	How     End
	Reason  string // as in Event
}

// turnEnds are the turns of a session.
type turnEnds struct {
	last *Turn   // that began last; nil: none
	open []*Turn // that have no end
	done *TurnEnd
}

// Observe takes an event, and returns the turns of which nothing more will be told: the one
// that has ended last in the session when another begins or ends there, or the session
// ends; and at once what is StillOpen or Forgotten.
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

// end takes the end of a turn.
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

// take returns the turn that has ended last, once.
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

// End returns the turns that have ended and were not told of, in order.
func (t *TurnEnds) End() []TurnEnd {
	var over []TurnEnd
	for _, s := range t.sessions {
		over = append(over, s.take()...)
	}
	slices.SortFunc(over, func(a, b TurnEnd) int { return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Prompt, b.Prompt)) })
	return over
}
