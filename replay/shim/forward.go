package shim

import (
	"bytes"
	"cmp"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

const defaultPatience = 20 * time.Second

func (s *Shim) patience() time.Duration { return cmp.Or(s.Patience, defaultPatience) }

// A step handles a message and appends the frames to send for it.
type step func(m message, out []wire.Frame) []wire.Frame

// pass is the step that sends the message unchanged.
func pass(m message, out []wire.Frame) []wire.Frame { return append(out, m.Frame) }

// A call is a request to the agent whose answer the shim handles.
type call struct {
	answered  step   // handles the agent's answer
	displaced func() // called if newer calls displace this one, so that answered never runs; may be nil
}

// expect makes c handle the agent's answer to the request with an id. c displaces an open
// call with the same id. If too many calls are open, it also displaces the oldest, whose
// answer then passes.
func (s *Shim) expect(id []byte, c *call) {
	same, oldest := s.calls.Ask(wire.ClientToAgent, 0, id, c)
	for _, gone := range []*call{same, oldest} {
		if gone != nil && gone.displaced != nil {
			gone.displaced()
		}
	}
}

// forward sends a request to an agent that offers its method. answered handles the
// answer. If the agent answers that it lacks the method, or does not answer in time,
// replace handles the request.
func (s *Shim) forward(m message, answered, replace step, out []wire.Frame) []wire.Frame {
	if s.full(m) {
		return append(out, m.fail(tooMany))
	}
	n := len(out)
	request, id := m.clone(), bytes.Clone(m.env.ID)
	out = s.toAgent(m, out)
	if len(out) == n || out[n].Dir != wire.ClientToAgent {
		return out // it is held and will be handled again, or it has failed
	}
	done := make(chan struct{})
	c := &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		close(done)
		if m.errorCode() == wire.MethodNotFound {
			failed := read(request)
			delete(s.offers.methods, string(failed.env.Method))
			return replace(failed, out)
		}
		return answered(m, out)
	}}
	s.expect(id, c)
	s.startJob(func() {
		t := time.NewTimer(s.patience())
		defer t.Stop()
		select {
		case <-done:
			return
		case <-s.ends.agentGone:
		case <-t.C:
		}
		s.do(func(out []wire.Frame) []wire.Frame {
			// If only the agent's stream has ended, that end tells the client.
			agentLeft := !s.ends.at[wire.AgentToClient].IsZero() && s.ends.at[wire.ClientToAgent].IsZero()
			if s.calls.Find(wire.ClientToAgent, 0, id) != c || agentLeft {
				return out
			}
			s.abandon(request)
			return replace(read(request), out)
		})
	})
	return out
}

// abandon stops waiting for the agent's answer to a client's request. From then on the
// method counts as lacking.
func (s *Shim) abandon(request wire.Frame) {
	m := read(request)
	delete(s.offers.methods, string(m.env.Method))
	s.calls.Answer(wire.AgentToClient, 0, m.env.ID)
	s.withholdAnswer(m.env.ID)
}

// withholdAnswer withholds the agent's answer to an abandoned request, and everything the
// agent sends for a session that the request opens.
func (s *Shim) withholdAnswer(id []byte) {
	s.expect(id, &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		s.withholdSetup(m.env.Result)
		return out
	}})
}
