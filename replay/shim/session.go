package shim

import (
	"bytes"
	"time"
)

// A session is a session of this connection, from its setup until it is closed. These
// combinations of its fields occur:
//
//	the shim opens it        opening.active; withholdHistory too if the agent loads or
//	                         resumes it for that (openAgain) or has done so (sendMissing)
//	the agent opens it       watched in the phase deciding; opening.active too with Mend
//	the first prompt waits   opening.active and withholdHistory (awaitReplayEnd)
//	it is open               neither opening.active nor a watched load that is deciding;
//	                         watched in the phase counting until the replay has ended, or
//	                         withholdHistory until the next prompt
//	it is closed             closed; at most byAgentID has it, and the rest has no meaning
//
// A session that is open may be opened once more, by either.
type session struct {
	clientID, agentID string

	opening opening
	turn    turn
	context *contextBlock // nil: the agent has the history; set by load.openAtAgent, cleared by forget
	lease   *lease        // nil: another proxy may load the session; set by acquireLease, cleared by releaseLease
	watched *nativeLoad   // the latest load by the agent, until it is decided and counted; nil: none; set by watchNative and keepCounting, cleared by nativeLoad.finish
	setup   []byte        // the result of the request that opened it, updated with later settings
	closed  bool          // withhold anything the agent still sends for it; set by forget, withhold and load.giveUp, never cleared

	// History from the agent is withheld until the next prompt: the client already has
	// it. Set by load.openAgain and nativeLoad.sendMissing, cleared by onPrompt and
	// awaitReplayEnd, and by openAgain on failure.
	withholdHistory bool

	// When ask last sent a request with this session as its target or, if it is later, when
	// the agent last sent an update while withholdHistory was set. Zero: neither has happened.
	quietSince time.Time

	shown shownIDs // nil: the agent's ids pass; set by keepShown, cleared by forget
	epoch int      // number of the live epoch, for shown
}

// addSession adds a session under the client's id.
func (s *Shim) addSession(clientID string) *session {
	c := &session{clientID: clientID, turn: turn{prompts: map[string]bool{}}}
	s.byClientID[clientID] = c
	return c
}

// bind assigns a session the id of the agent's session that was opened for it.
func (s *Shim) bind(c *session, agentID string, setup []byte) {
	c.agentID, c.setup = agentID, bytes.Clone(setup)
	s.byAgentID[agentID] = c
	s.setups.claim(c)
}

// forget ends a session. Anything the agent still sends for it is withheld.
func (s *Shim) forget(c *session) {
	delete(s.byClientID, c.clientID)
	c.closed = true
	c.releaseLease()
	c.context, c.shown = nil, nil // large, and byAgentID keeps c as long as the agent runs
}

// withhold withholds what the agent sends for a session unknown to the client.
func (s *Shim) withhold(agentID string) {
	s.byAgentID[agentID] = &session{clientID: agentID, agentID: agentID, closed: true}
}

// followUpdate notes an update from the agent. It returns false if the client must not
// get the update.
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
