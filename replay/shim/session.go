package shim

import (
	"bytes"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A session is a session that is active on this connection.
type session struct {
	client, agent string // its id on each side
	clientJSON    []byte
	agentJSON     []byte

	openBuffer
	turn

	closed  bool      // what the agent still sends for it is withheld
	history bool      // history that the agent sends before the next prompt is withheld: the client has it
	seen    time.Time // when the agent last sent an update for it, while history is withheld

	names shownIDs // nil if it was not loaded
	epoch int      // number of the live epoch, for names

	native  *nativeLoad
	opened  []byte // the result of what opened it
	context *contextBlock
	lease   *lease // nil: another client may load it
}

// addSession makes a session known by the client's id.
func (s *Shim) addSession(client string) *session {
	client = strings.Clone(client) // may be part of a frame
	c := &session{client: client, clientJSON: quote(client), turn: turn{prompts: map[string]bool{}}}
	s.sessions[client] = c
	return c
}

// bind ties a session to the one that the agent has opened for it.
func (s *Shim) bind(c *session, agent string, opened []byte) {
	c.agent = strings.Clone(agent)
	c.agentJSON = quote(agent)
	c.opened = bytes.Clone(opened)
	s.byAgent[c.agent] = c
	s.claimUpdates(c)
}

// drop forgets a session. What the agent still sends for it is withheld.
func (s *Shim) drop(c *session) {
	delete(s.sessions, c.client)
	c.closed = true
	c.releaseLease()
	c.context, c.names = nil, nil // they are large, and what is closed is remembered as long as the agent lives
}

// toAgent passes on a message of the client, with the agent's id of the session.
func (s *Shim) toAgent(m message, out []wire.Frame) []wire.Frame {
	path := dialect.SessionPath(string(m.env.Method), m.env.Params)
	if path == "" {
		return append(out, m.Frame)
	}
	id := get(m.Raw, path)
	c := s.sessions[id.Text()]
	switch {
	case !id.IsString():
		return append(out, m.Frame)
	case c == nil && s.unsure() && !s.opens():
		return s.park(m, out) // the store may know it
	case c == nil && (s.byAgent[id.Text()] != nil || s.knownIDs[id.Text()] && !s.opens()):
		if m.env.ID == nil {
			return out
		}
		return append(out, m.fail(notFound(id.Text())))
	case c == nil:
		return append(out, m.Frame)
	case c.opening && string(m.env.Method) == "session/cancel" && len(c.fromClient) == 0:
		return out // there is no turn, and none waits
	case c.opening:
		return s.hold(c, m, out)
	}
	s.noteSetting(c, m)
	if c.client != c.agent {
		m = m.patched(path, c.agentJSON)
	}
	return append(out, m.Frame)
}

// noteSetting follows a change of a mode or a config option.
func (s *Shim) noteSetting(c *session, m message) {
	method := string(m.env.Method)
	if m.env.ID == nil || method != "session/set_mode" && method != "session/set_config_option" {
		return
	}
	mode := wire.ValueOf(m.param("modeId").Raw())
	s.expect(m.env.ID, &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		if m.env.Error == nil {
			c.restate("modes.currentModeId", mode)
			c.restate("configOptions", get(m.env.Result, "configOptions"))
		}
		return append(out, m.Frame)
	}})
}

// toClient passes on a message of the agent, with the client's id of the session.
func (s *Shim) toClient(m message, out []wire.Frame) []wire.Frame {
	method := string(m.env.Method)
	path := dialect.SessionPath(method, m.env.Params)
	switch {
	case method == "$/cancel_request":
		return s.cancelRequest(m, out)
	case path == "":
		return append(out, m.Frame)
	}
	if method == "elicitation/create" {
		m = s.elicited(m)
	}
	// Nearly all frames are updates of a session that needs nothing: of them only
	// two short fields are copied.
	id := m.param(path[len("params."):])
	c := s.byAgent[id.Text()]
	switch {
	case !id.IsString():
		return append(out, m.Frame)
	case (c == nil || c.closed) && method == "session/update" && (s.ownSetups > 0 || s.newRequests > 0 && s.knownIDs[id.Text()]) && s.kept.room(m):
		s.unclaimed = append(s.unclaimed, s.kept.take(m))
		return out
	case c == nil:
		return append(out, m.Frame)
	case c.closed:
		if m.env.ID != nil {
			out = append(out, m.fail(notFound(c.agent)))
		}
		return out
	case c.holds() && !c.history:
		return s.hold(c, m, out)
	}
	if method == "session/update" {
		if c.native != nil {
			out = c.native.update(m.param("update.sessionUpdate").Text(), out)
		}
		if !s.update(c, &m) {
			return out
		}
	}
	if c.holds() {
		return s.hold(c, m, out)
	}
	if c.names != nil {
		m = s.renamed(c, m, method)
	}
	if c.client != c.agent {
		m = m.patched(path, c.clientJSON)
	}
	return append(out, m.Frame)
}

// elicited returns an elicitation. If it is about a request of the shim, it is made to be
// about the request of the client that the shim serves by it.
func (s *Shim) elicited(m message) message {
	id, by := dialect.NamedID("elicitation/create", dialect.RequestID, m.Dir, m.env.Params)
	asked := string(id)
	if by != wire.ClientToAgent || s.asked[asked] == nil {
		return m
	}
	for _, v := range s.served {
		if v.asking == asked {
			return m.patched("params.requestId", v.request.env.ID)
		}
	}
	return m
}

// update follows an update of the agent. It returns false if the client must not get it.
func (s *Shim) update(c *session, m *message) bool {
	variant := m.param("update.sessionUpdate").Text()
	if c.history {
		c.seen = time.Now()
		if historic(variant) {
			return false
		}
	}
	if c.context != nil && !c.context.strip(m, variant) {
		return false
	}
	switch variant {
	case "state_update":
		c.working = m.param("update.state").Text() != "idle"
		c.noteIdle()
	case "current_mode_update":
		c.restate("modes.currentModeId", m.param("update.currentModeId"))
	case "config_option_update":
		c.restate("configOptions", m.param("update.configOptions"))
	}
	return true
}

// restate updates a value in the result of the session's setup.
func (c *session) restate(path string, v wire.Value) {
	if v.Exists() && get(c.opened, path).Exists() {
		c.opened = set(c.opened, path, []byte(v.Raw()))
	}
}

// historic reports whether updates of a variant belong to the conversation, so that a
// load replays them.
func historic(variant string) bool {
	u, ok := dialect.LookupUpdate(variant)
	return ok && dialect.UserMessage <= u.Entity && u.Entity <= dialect.Compaction
}
