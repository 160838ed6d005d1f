package shim

import (
	"bytes"
	"cmp"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

const defaultPatience = 20 * time.Second

func (s *Shim) patience() time.Duration { return cmp.Or(s.Patience, defaultPatience) }

// A step handles a message and appends the frames that are sent for it.
type step func(m message, out []wire.Frame) []wire.Frame

// pass is the step that changes nothing.
func pass(m message, out []wire.Frame) []wire.Frame { return append(out, m.Frame) }

// forward passes a request on to an agent that offers its method. If the agent answers
// that it does not have the method, or does not answer in time, instead handles the
// request.
func (s *Shim) forward(m message, answered, instead step, out []wire.Frame) []wire.Frame {
	asked, method, id := m.clone(), string(m.env.Method), bytes.Clone(m.env.ID)
	done := make(chan struct{})
	c := &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		close(done)
		if get(m.env.Error, "code").Int() == rpc.MethodNotFound {
			s.lacks[method] = true
			return instead(read(asked), out)
		}
		return answered(m, out)
	}}
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	n := len(out)
	out = s.toAgent(m, out)
	if len(out) == n || out[n].Dir != wire.ClientToAgent {
		return out
	}
	s.expect(m.env.ID, c)
	s.spawn(func() {
		t := time.NewTimer(s.patience())
		defer t.Stop()
		select {
		case <-done:
			return
		case <-s.over:
		case <-t.C:
		}
		s.do(func(out []wire.Frame) []wire.Frame {
			if s.calls.Find(wire.ClientToAgent, 0, id) != c || !s.ended[wire.AgentToClient].IsZero() && s.ended[wire.ClientToAgent].IsZero() {
				return out
			}
			s.abandon(asked)
			return instead(read(asked), out)
		})
	})
	return out
}

// abandon gives up a request that the agent does not answer. If the answer comes after
// all, it is withheld.
func (s *Shim) abandon(asked wire.Frame) {
	m := read(asked)
	s.lacks[string(m.env.Method)] = true
	s.calls.Answer(wire.AgentToClient, 0, m.env.ID)
	s.ignore(m.env.ID)
}

// ignore withholds the answer to a request for which nobody waits any more.
func (s *Shim) ignore(id []byte) {
	s.expect(id, &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		s.suppress(m.env.Result)
		return out
	}})
}
