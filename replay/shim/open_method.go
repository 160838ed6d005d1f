package shim

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// passesOn reports whether a method is passed on to the agent: the agent offers it and has
// not failed to do it on this connection.
//
// The current draft of version 2 has no markers for list, resume and close: an agent with
// sessions promises to have them, and only the answer -32601 tells otherwise.
func (s *Shim) passesOn(method string) bool { return s.Mode != Force && s.offers.methods[method] }

// opensSessions reports whether the agent itself can open earlier sessions.
func (s *Shim) opensSessions() bool {
	return s.passesOn(dialect.LoadSession) || s.passesOn(dialect.ResumeSession)
}

// An openMethod is the method by which the shim makes the agent open a session, if the
// agent lacks the method that the client has asked for.
type openMethod uint8

// The methods, the best first: resuming keeps what the agent remembers.
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

// agentMayKnow reports whether the agent may know a session by the client's id for it. It
// does not if either side uses that id for another session.
func (s *Shim) agentMayKnow(clientID string) bool {
	c, a := s.byClientID[clientID], s.byAgentID[clientID]
	return (c == nil || c.agentID == clientID) && (a == nil || a.clientID == clientID)
}

// meansUnknown reports whether an error code may mean that the agent does not know the
// session: agents use these codes for that. The code that asks the client to log in is not
// one of them.
func meansUnknown(code int) bool {
	return code == wire.ResourceNotFound || code == wire.InvalidParams || code == wire.InternalError || code == wire.MethodNotFound
}
