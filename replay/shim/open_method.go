package shim

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// native reports whether a method is passed on to the agent: the agent offers it, and has
// not failed to do it on this connection.
//
// The current draft of version 2 has no markers for list, resume and close: an
// agent with sessions promises them, and only the answer -32601 tells.
func (s *Shim) native(method string) bool {
	return s.Mode != Force && s.own.methods[method] && !s.lacks[method]
}

// opens reports whether the agent itself can open earlier sessions.
func (s *Shim) opens() bool { return s.native("session/load") || s.native("session/resume") }

// An openMethod is the method by which the shim makes the agent open a session, where the
// agent lacks the one that the client has asked for.
type openMethod uint8

// The methods, the best first: resuming keeps what the agent knows.
const (
	byResume openMethod = iota // session/resume, with the history from the store
	byLoad                     // session/load; the history that the agent sends is withheld
	asNew                      // session/new, with the history from the store; the agent gets it with the first prompt
)

// openMethod returns how to serve session/load or session/resume.
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

// sameName reports whether the agent may know a session by the client's id for it. It
// does not if that id is in use for another session on either side.
func (s *Shim) sameName(id string) bool {
	c, a := s.sessions[id], s.byAgent[id]
	return (c == nil || c.agent == id) && (a == nil || a.client == id)
}

// refuses reports whether the code of an error may mean that the agent does not know the
// session: agents use these codes for that. They do not include the code that says that
// the client has to log in first.
func refuses(code int) bool {
	return code == rpc.ResourceNotFound || code == rpc.InvalidParams || code == rpc.InternalError || code == rpc.MethodNotFound
}

// v2 reports whether a connection speaks version 2, in either draft.
func v2(d dialect.Dialect) bool { return d == dialect.ACPv2 || d == dialect.ACPv2Early }
