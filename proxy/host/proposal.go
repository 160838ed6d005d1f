package host

import (
	"crypto/rand"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Keys in the _meta of params and results.
const (
	metaSession = "io.modelcontextprotocol/session" // data-layer sessions
	metaVersion = "io.modelcontextprotocol/protocolVersion"
)

// beside reports whether messages carry the session id next to method and result.
func (r *run) beside() bool { return r.Proposal != dialect.DataLayer }

// creates reports whether a method creates a session.
func (r *run) creates(method string) bool {
	return r.does(method, dialect.Creates)
}

// deletes reports whether a method ends a session.
func (r *run) deletes(method string) bool {
	return r.does(method, dialect.Deletes|dialect.Closes)
}

// does reports whether a method has a role in the proposal.
func (r *run) does(method string, role dialect.Role) bool {
	m, _ := dialect.Lookup(dialect.MCP, method)
	return m.Role.Is(role) && m.Proposals.Has(r.Proposal)
}

// foreign reports whether a method creates or deletes a session in another proposal.
func (r *run) foreign(method string) bool {
	m, _ := dialect.Lookup(dialect.MCP, method)
	return m.Role.Is(dialect.Creates|dialect.Deletes) && !m.Proposals.Has(r.Proposal)
}

// session returns what a client's message names as its session, as JSON, or nil if it
// names none.
func (r *run) session(m message) []byte {
	id := m.Session
	if !r.beside() {
		id = wire.Get(m.Params, "_meta", metaSession)
		if wire.Present(id) {
			if own := wire.Get(id, "sessionId"); len(own) > 0 {
				return own
			}
			return id // not an id: refused as an unknown one
		}
	}
	if !wire.Present(id) {
		return nil
	}
	return id
}

// stripped returns a client's line as a process gets it, without its session.
func (r *run) stripped(m message) []byte {
	switch {
	case r.beside() && m.Session != nil:
		return wire.Delete(m.line, "sessionId")
	case !r.beside() && len(wire.Get(m.Params, "_meta", metaSession)) > 0:
		return wire.Delete(m.line, "params", "_meta", metaSession)
	}
	return m.line
}

// marked returns a process's request or notification as the client gets it, with its
// session.
func (r *run) marked(p *process, line []byte) []byte {
	switch {
	case !p.ready:
		return line
	case r.beside():
		return wire.Set(line, wire.Quote(p.id), "sessionId")
	}
	return wire.Set(line, wire.Encode(lease{SessionID: p.id}), "params", "_meta", metaSession)
}

// confirmed returns a successful response with the session of p.
func (r *run) confirmed(p *process, line []byte) []byte {
	if r.beside() {
		return wire.Set(line, wire.Quote(p.id), "sessionId")
	}
	return wire.Set(line, wire.Encode(r.lease(p)), "result", "_meta", metaSession)
}

// A lease is a session as defined in the draft of data-layer sessions.
type lease struct {
	SessionID string `json:"sessionId"`
	State     string `json:"state,omitempty"`
	ExpiresAt string `json:"expiresAt,omitempty"` // RFC 3339
}

// lease returns the session of a process with a new, random state. Its value has no
// meaning, because the state is in the process.
func (r *run) lease(p *process) lease {
	l := lease{SessionID: p.id, State: rand.Text()}
	if r.Idle > 0 {
		l.ExpiresAt = time.Now().Add(r.Idle).UTC().Format(time.RFC3339)
	}
	return l
}

// offered returns the response to initialize or server/discover with the capability that
// announces sessions added.
func (r *run) offered(line []byte) []byte {
	switch r.Proposal {
	case dialect.SEP1364A1:
		return wire.Set(line, wire.Encode(struct {
			Required bool `json:"required"`
		}{r.Required}), "result", "capabilities", "sessions")
	case dialect.DataLayer:
		return wire.Set(line, []byte("{}"), "result", "capabilities", "sessions")
	}
	return line
}

// hasOwn reports whether a response shows that the server has sessions of its own.
func hasOwn(m message) bool {
	return wire.Present(m.Session) || wire.Present(wire.Get(m.Result, "capabilities", "sessions"))
}
