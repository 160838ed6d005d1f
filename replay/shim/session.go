package shim

import (
	"bytes"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A session is a session of this connection, from its setup until it is closed.
type session struct {
	clientID, agentID     string
	clientJSON, agentJSON []byte // the same as JSON

	opening opening
	turn    turn
	context *contextBlock // nil: the agent has the history; set by load.openAtAgent, cleared by forget
	lease   *lease        // nil: another proxy may load the session; set by acquireLease, cleared by releaseLease
	watched *nativeLoad   // the load by the agent that is being watched; nil: none; set by watchNative, cleared by nativeLoad.decide
	setup   []byte        // the result of the request that opened it, with settings that changed since then
	closed  bool          // what the agent still sends for it is withheld; set by forget, withhold and load.giveUp, never cleared

	// History that the agent sends is withheld until the next prompt: the client has it. Set
	// by load.openAgain and nativeLoad.sendMissing, cleared by onPrompt and awaitReplayEnd,
	// and by openAgain if it fails.
	withholdHistory bool

	// While withholdHistory is set: when the agent last sent an update, or when ask sent the
	// request to open the session, whichever is later. Zero: neither was done.
	quietSince time.Time

	shown shownIDs // nil: the agent's ids pass; set by keepShown, cleared by forget
	epoch int      // number of the live epoch, for shown
}

// addSession adds a session by the client's id.
func (s *Shim) addSession(clientID string) *session {
	clientID = strings.Clone(clientID) // may be part of a frame
	c := &session{clientID: clientID, clientJSON: wire.Quote(clientID), turn: turn{prompts: map[string]bool{}}}
	s.byClientID[clientID] = c
	return c
}

// bind gives a session the id of the agent's session that was opened for it.
func (s *Shim) bind(c *session, agentID string, setup []byte) {
	c.agentID = strings.Clone(agentID)
	c.agentJSON = wire.Quote(agentID)
	c.setup = bytes.Clone(setup)
	s.byAgentID[c.agentID] = c
	s.setups.claim(c)
}

// forget ends a session. What the agent still sends for it is withheld.
func (s *Shim) forget(c *session) {
	delete(s.byClientID, c.clientID)
	c.closed = true
	c.releaseLease()
	c.context, c.shown = nil, nil // large, and byAgentID keeps c as long as the agent runs
}

// withhold withholds what the agent sends for a session of which the client knows nothing.
func (s *Shim) withhold(agentID string) {
	s.byAgentID[agentID] = &session{clientID: agentID, agentID: agentID, closed: true}
}

// followSetting notes a change of a mode or a config option that the client asks for.
func (s *Shim) followSetting(c *session, m message) {
	if m.env.ID == nil || !m.does(dialect.SetsMode|dialect.SetsOption) {
		return
	}
	mode := wire.ValueOf(m.param("modeId").Raw())
	s.expect(m.env.ID, &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		if m.env.Error == nil {
			c.setSetting("modes.currentModeId", mode)
			c.setSetting("configOptions", get(m.env.Result, "configOptions"))
		}
		return append(out, m.Frame)
	}})
}

// followUpdate notes an update of the agent. It returns false if the client must not get
// the update.
func (c *session) followUpdate(m *message) bool {
	variant := m.param("update.sessionUpdate").Text()
	if c.withholdHistory {
		c.quietSince = time.Now()
		if historic(variant) {
			return false
		}
	}
	if c.context != nil && !c.context.strip(m, variant) {
		return false
	}
	switch variant {
	case "state_update":
		c.turn.working = m.param("update.state").Text() != "idle"
		c.turn.wakeIfIdle()
	case "current_mode_update":
		c.setSetting("modes.currentModeId", m.param("update.currentModeId"))
	case "config_option_update":
		c.setSetting("configOptions", m.param("update.configOptions"))
	}
	return true
}

// setSetting changes a value that the result of the setup has.
func (c *session) setSetting(path string, v wire.Value) {
	if v.Exists() && get(c.setup, path).Exists() {
		c.setup = set(c.setup, path, []byte(v.Raw()))
	}
}
