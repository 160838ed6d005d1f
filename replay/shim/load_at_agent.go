package shim

import (
	"errors"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// passesOn reports whether a method is passed on to the agent: the agent offers it and has
// not failed to do it on this connection.
//
// The current draft of version 2 has no markers for list, resume and close: an agent with
// sessions promises to have them, and only the answer -32601 tells otherwise.
func (s *Shim) passesOn(method string) bool { return !s.Force && s.offers.methods[method] }

// opensSessions reports whether the agent itself can open earlier sessions.
func (s *Shim) opensSessions() bool {
	return s.passesOn(dialect.LoadSession) || s.passesOn(dialect.ResumeSession)
}

// An openMethod is the method by which the shim makes the agent open a session if the
// agent lacks the one that the client asked for.
type openMethod uint8

// The methods, best first: resuming keeps what the agent remembers.
const (
	byResume openMethod = iota // session/resume; the client gets the history from the store
	byLoad                     // session/load; the history that the agent sends is withheld
	asNew                      // session/new; the agent gets a transcript with the first prompt
)

// openMethod returns how to serve session/load or session/resume.
func (s *Shim) openMethod(method, clientID string) openMethod {
	switch role := dialect.RoleOf(dialect.ACP, method); {
	case !s.agentMayKnow(clientID):
		return asNew
	case role.Is(dialect.Loads) && s.passesOn(dialect.ResumeSession):
		return byResume
	case role.Is(dialect.Resumes) && s.passesOn(dialect.LoadSession):
		return byLoad
	}
	return asNew
}

// agentMayKnow reports whether the agent may know a session by the client's id. It does
// not if either side uses that id for another session.
func (s *Shim) agentMayKnow(clientID string) bool {
	c, a := s.byClientID[clientID], s.byAgentID[clientID]
	return (c == nil || c.agentID == clientID) && (a == nil || a.clientID == clientID)
}

// meansUnknown reports whether agents use an error code to say that they do not know the
// session. The code that asks the client to log in is not one of them.
func meansUnknown(code int) bool {
	return code == wire.ResourceNotFound || code == wire.InvalidParams || code == wire.InternalError || code == wire.MethodNotFound
}

// openAtAgent makes the agent open the session by l.method, or as a new session if that
// fails.
func (l *load) openAtAgent() error {
	if l.method != asNew {
		err := l.openAgain()
		var e refusal
		if refused := errors.As(err, &e) && meansUnknown(errorCode(e.err)); !refused && !errors.Is(err, errSilent) {
			return err
		}
		l.method = asNew
	}
	l.shim.change(func() { l.shim.setups.anyID++ })
	a, err := l.request.ask(dialect.NewSession, l.setupParams(""), nil)
	agentID := wire.ValueAt(a.result, "sessionId")
	switch {
	case err != nil:
	case a.err != nil:
		err = refusal{a.err}
	case !agentID.IsString():
		err = fault{wire.InternalError, "the agent made no session", nil}
	}
	var context *contextBlock
	if err == nil {
		context = newContextBlock(l.session.clientID, l.past, l.shim.offers.embedded) // not in the act: it may take long
	}
	l.shim.do(func(out []wire.Frame) []wire.Frame {
		if err == nil {
			l.shim.bind(l.session, agentID.Text(), a.result)
			l.session.context = context
		}
		return l.shim.endSetup(&l.shim.setups.anyID, out)
	})
	if err != nil {
		return err
	}
	return l.restoreSettings()
}

// openAgain makes the agent resume or load the session under the client's id.
func (l *load) openAgain() error {
	s, id, method := l.shim, l.session.clientID, dialect.ResumeSession
	if l.method == byLoad {
		method = dialect.LoadSession
	}
	s.change(func() {
		s.bind(l.session, id, nil)
		l.session.withholdHistory = true
	})
	a, err := l.request.ask(method, l.setupParams(id), l.session)
	if err == nil && a.err != nil {
		err = refusal{a.err}
	}
	s.change(func() {
		if err != nil {
			delete(s.byAgentID, id)
			l.session.withholdHistory = false
			if errorCode(a.err) == wire.MethodNotFound || errors.Is(err, errSilent) {
				delete(s.offers.methods, method)
			}
			if a.err == nil { // the agent may still open the session and send its history
				s.withhold(id)
			}
		}
		l.session.setup = a.result
	})
	return err
}

// setupParams returns the parameters of the request that makes the agent open a session:
// those of the client's request, with the session id replaced by agentID, or removed if
// agentID is empty.
func (l *load) setupParams(agentID string) []byte {
	var p members
	if agentID != "" {
		p = p.text("sessionId", agentID)
	}
	l.request.message.env.Params.Value().ForEach(func(key, v wire.Value) bool {
		if key.Text() != "sessionId" && key.Text() != "replayFrom" {
			p = p.add(key.Text(), []byte(v.Raw()))
		}
		return true
	})
	if !l.request.message.param("mcpServers").IsArray() && l.shim.dialect != dialect.ACPv2 {
		p = p.add("mcpServers", []byte("[]"))
	}
	return p.object()
}

// withoutID turns the result of session/new into one of session/load. In the
// specification's prose an empty result is null; its schemas require an object.
func withoutID(result []byte) []byte {
	if !wire.ValueOf(result).IsObject() {
		return []byte("{}")
	}
	return wire.Delete(result, "sessionId")
}
