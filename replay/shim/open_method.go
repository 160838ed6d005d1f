package shim

import (
	"cmp"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// native reports whether a method is passed on to the agent: it offers it, and
// has not failed to do it on this connection.
//
// The current draft of version 2 has no markers for list, resume and close: an
// agent with sessions promises them, and only the answer -32601 tells.
func (s *Shim) native(method string) bool {
	return s.Mode != Force && s.own.methods[method] && !s.lacks[method]
}

// opens reports whether the agent opens earlier sessions by itself.
func (s *Shim) opens() bool { return s.native("session/load") || s.native("session/resume") }

// A way is how a session is opened that the agent does not open by itself.
type openMethod uint8

// The ways, the best first: resuming keeps what the agent knows.
const (
	byResume openMethod = iota // session/resume, with the history from the store
	byLoad                     // session/load, of which the history is withheld
	asNew                      // session/new, with the history from the store; the agent is told of it with the first prompt
)

// way returns how to serve session/load or session/resume.
func (s *Shim) openMethod(method, session string) openMethod {
	switch {
	case !s.sameName(session):
		return asNew
	case method == "session/load" && s.native("session/resume"):
		return byResume
	case method == "session/resume" && s.native("session/load"):
		return byLoad
	}
	return asNew
}

// sameName reports whether the agent may know a session by the client's name
// for it. It cannot where either name is in use for another one.
func (s *Shim) sameName(id string) bool {
	c, a := s.sessions[id], s.byAgent[id]
	return (c == nil || c.agent == id) && (a == nil || a.client == id)
}

// refuses reports whether an error of a native load or resume may mean that the
// agent does not know the session: these codes are in use for it. That the
// client has to log in first is no refusal.
func refuses(code int) bool {
	return code == resourceNotFound || code == invalidParams || code == internalError || code == methodNotFound
}

// v2 reports whether a connection speaks version 2, in either draft.
func v2(d dialect.Dialect) bool { return d == dialect.ACPv2 || d == dialect.ACPv2Early }

const defaultPatience = 20 * time.Second

func (s *Shim) patience() time.Duration { return cmp.Or(s.Patience, defaultPatience) }

// A step takes a message and appends what is sent for it.
type step func(m message, out []wire.Frame) []wire.Frame

// forward passes a request on to an agent that offers its method. If the agent
// then says that it does not have it, or says nothing for too long, instead
// takes the request.
func (s *Shim) forward(m message, answered, instead step, out []wire.Frame) []wire.Frame {
	asked, method, key := m.clone(), string(m.env.Method), string(m.env.ID)
	done := make(chan struct{})
	c := &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		close(done)
		if get(m.env.Error, "code").Int() == methodNotFound {
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
	s.calls.add(m.env.ID, c)
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
			if s.calls.open[key] != c || !s.ended[wire.AgentToClient].IsZero() && s.ended[wire.ClientToAgent].IsZero() {
				return out
			}
			s.abandon(asked)
			return instead(read(asked), out)
		})
	})
	return out
}

// abandon gives up a request that the agent does not answer. The answer, should
// it come after all, is withheld.
func (s *Shim) abandon(asked wire.Frame) {
	m := read(asked)
	s.lacks[string(m.env.Method)] = true
	s.calls.take(m.env.ID)
	s.ignore(m.env.ID)
}

// ignore has the answer to a request withheld that nobody waits for any more.
func (s *Shim) ignore(id []byte) {
	s.calls.add(id, &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		s.suppress(m.env.Result)
		return out
	}})
}
