package shim

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// closeWait limits how long a turn may take to end after a close has cancelled it.
const closeWait = 10 * time.Second

// onClose handles session/close.
func (s *Shim) onClose(m message, out []wire.Frame) []wire.Frame {
	id := m.param("sessionId")
	c := s.byClientID[id.Text()]
	passes := s.passesOn(dialect.CloseSession)
	switch {
	case m.env.ID == nil:
		return s.toAgent(m, out)
	case !passes && !id.IsString():
		return append(out, m.fail(noSession))
	case passes && (c == nil || !c.opening.active):
		return s.forward(m, func(m message, out []wire.Frame) []wire.Frame {
			if c != nil && m.env.Error == nil {
				s.forget(c)
			}
			return append(out, m.Frame)
		}, s.onClose, out)
	case c == nil:
		return append(out, m.fail(notFound(id.Text())))
	case s.full(m):
		return append(out, m.fail(tooMany))
	}
	s.serve(m, func(r *servedRequest) error {
		if err := r.cancelTurn(c); err != nil {
			return err
		}
		return r.do(func(out []wire.Frame) []wire.Frame {
			s.forget(c)
			return append(out, r.reply([]byte("{}")))
		})
	})
	return out
}

// cancelTurn cancels the current turn, if any, and waits up to closeWait for it to end.
func (r *servedRequest) cancelTurn(c *session) error {
	var ended <-chan struct{}
	err := r.do(func(out []wire.Frame) []wire.Frame {
		if !c.turn.busy() {
			return out
		}
		ended = c.turn.end()
		return append(out, wire.Frame{Dir: wire.ClientToAgent, Raw: wire.NewNotification(dialect.CancelTurns, members(nil).add("sessionId", wire.Quote(c.agentID)).object())})
	})
	if err != nil || ended == nil {
		return err
	}
	return r.wait(ended, closeWait)
}

// onDelete handles session/delete. The store hides the session once this request is
// recorded, and the agent has nothing to delete. An open session stays open until it is
// closed. Deleting a session that does not exist succeeds too.
func (s *Shim) onDelete(m message, out []wire.Frame) []wire.Frame {
	switch {
	case m.env.ID == nil:
		return s.toAgent(m, out)
	case s.passesOn(dialect.DeleteSession):
		return s.forward(m, pass, s.onDelete, out)
	case !m.param("sessionId").IsString():
		return append(out, m.fail(noSession))
	}
	return append(out, wire.Frame{Dir: wire.AgentToClient, Raw: wire.NewResult(m.env.ID, []byte("{}"))})
}
