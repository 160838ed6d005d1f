package shim

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// onFork handles session/fork. The new session begins with the history of the other one up
// to its last finished turn. The other session is not affected, even if a turn is under way
// in it.
func (s *Shim) onFork(m message, out []wire.Frame) []wire.Frame {
	if m.env.ID == nil {
		return s.toAgent(m, out)
	}
	if s.passesOn(dialect.ForkSession) {
		s.lookUpIDs()
		return s.forward(m, s.onSessionMade, s.onFork, out)
	}
	if wrong := checkSetup(m); wrong != nil {
		return append(out, m.fail(*wrong))
	}
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	l := &load{session: s.addSession(newID()), method: asNew}
	s.startLoad(m, l, l.fork)
	return out
}

// fork opens the new session.
func (l *load) fork() error {
	one, listing, err := l.shim.find(l.request.message.param("sessionId").Text())
	if err != nil {
		return err
	}
	if l.past, err = l.shim.readHistory(one, listing, l.request.message); err != nil {
		return unreadable("session", err)
	}
	own := &l.past.parts[len(l.past.parts)-1]
	own.turns = lastFinished(own.Conversation, nil, time.Time{})
	if err := l.openAtAgent(); err != nil {
		return err
	}
	return l.request.do(func(out []wire.Frame) []wire.Frame {
		result := set(l.session.setup, "sessionId", l.session.clientJSON)
		return l.shim.endOpening(l.session, append(out, l.request.reply(result)))
	})
}
