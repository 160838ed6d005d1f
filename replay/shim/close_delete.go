package shim

import (
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// closeWait is how long a turn may take to end after a close has cancelled it.
const closeWait = 10 * time.Second

// close handles session/close.
func (s *Shim) close(m message, out []wire.Frame) []wire.Frame {
	id := m.param("sessionId").Text()
	c := s.sessions[id]
	switch {
	case m.env.ID == nil:
		return s.toAgent(m, out)
	case !s.native("session/close") && !m.param("sessionId").IsString():
		return append(out, m.fail(noSession))
	case s.native("session/close") && (c == nil || !c.opening):
		return s.forward(m, func(m message, out []wire.Frame) []wire.Frame {
			if c != nil && m.env.Error == nil {
				s.drop(c)
			}
			return append(out, m.Frame)
		}, s.close, out)
	case c == nil:
		return append(out, m.fail(notFound(id)))
	case s.full(m):
		return append(out, m.fail(tooMany))
	}
	s.serve(m, func(v *servedRequest) error {
		if err := v.finish(c); err != nil {
			return err
		}
		return v.act(func(out []wire.Frame) []wire.Frame {
			s.drop(c)
			return append(out, v.reply([]byte("{}")))
		})
	})
	return out
}

// finish cancels the turn that is under way, if there is one, and waits at most closeWait
// for its end.
func (v *servedRequest) finish(c *session) error {
	var ended chan struct{}
	err := v.act(func(out []wire.Frame) []wire.Frame {
		if !c.busy() {
			return out
		}
		if c.ended == nil {
			c.ended = make(chan struct{})
		}
		ended = c.ended
		return append(out, wire.Frame{Dir: wire.ClientToAgent, Raw: rpc.Notification("session/cancel", members(nil).add("sessionId", c.agentJSON).object())})
	})
	if err != nil || ended == nil {
		return err
	}
	t := time.NewTimer(closeWait)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
	case <-v.gone:
		return errCancelled
	case <-v.over:
		return errOver
	}
	return nil
}

// remove handles session/delete. From then on the store hides the session; the agent has
// none to delete. An active session stays active until it is closed. Deleting a session
// that does not exist succeeds too.
func (s *Shim) remove(m message, out []wire.Frame) []wire.Frame {
	switch {
	case m.env.ID == nil:
		return s.toAgent(m, out)
	case s.native("session/delete"):
		return s.forward(m, pass, s.remove, out)
	case !m.param("sessionId").IsString():
		return append(out, m.fail(noSession))
	}
	return append(out, wire.Frame{Dir: wire.AgentToClient, Raw: rpc.Result(m.env.ID, []byte("{}"))})
}
