package shim

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// fork handles session/fork. The new session begins with the history of the other until
// its last finished turn. The other session is not affected, even if a turn is under way
// in it.
func (s *Shim) fork(m message, out []wire.Frame) []wire.Frame {
	if m.env.ID == nil {
		return s.toAgent(m, out)
	}
	if s.native("session/fork") {
		s.lookUpIDs()
		return s.forward(m, s.sessionMade, s.fork, out)
	}
	if err := checkSetup(m); err != nil {
		return append(out, m.fail(*err))
	}
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	c := s.addSession(newID())
	c.opening = true
	s.serve(m, func(v *servedRequest) error {
		l := &load{servedRequest: v, session: c, openMethod: asNew}
		err := l.fork()
		if err != nil {
			l.giveUp()
		}
		return err
	})
	return out
}

// fork opens the new session.
func (l *load) fork() error {
	free, err := l.slot(l.gone)
	if err != nil {
		return err
	}
	defer free()
	one, listing, err := l.find(l.request.param("sessionId").Text())
	if err != nil {
		return err
	}
	if l.past, err = l.Shim.read(one, listing, l.request); err != nil {
		return unreadable("session", err)
	}
	own := &l.past.parts[len(l.past.parts)-1]
	own.turns = finished(own.Conversation, nil, time.Time{})
	if err := l.create(); err != nil {
		return err
	}
	return l.act(func(out []wire.Frame) []wire.Frame {
		return l.release(l.session, append(out, l.reply(set(l.session.opened, "sessionId", l.session.clientJSON))))
	})
}

// newID makes the id of a session (RFC 9562, version 4).
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
