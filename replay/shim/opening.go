package shim

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// An opening holds the frames that both sides send for a session while it is being
// opened.
type opening struct {
	active     bool         // the session is being opened; set by startLoad, watchNative, nativeLoad.sendMissing and awaitReplayEnd, cleared by end
	overflowed bool         // no room was left for the agent's frames, so they pass; set by holdUntilOpen, cleared by end
	fromAgent  []wire.Frame // including those found by setups.claim
	fromClient []wire.Frame
}

// holdsAgent reports whether the agent's frames wait.
func (o *opening) holdsAgent() bool { return o.active && !o.overflowed }

// holdUntilOpen holds a frame until the session is open.
func (s *Shim) holdUntilOpen(c *session, m message, out []wire.Frame) []wire.Frame {
	switch {
	case m.Dir == wire.ClientToAgent:
		return s.holdIn(&c.opening.fromClient, m, out)
	case s.held.room(m):
		c.opening.fromAgent = append(c.opening.fromAgent, s.held.take(m))
		return out
	}
	held := c.opening.fromAgent
	c.opening.fromAgent, c.opening.overflowed = nil, true
	return s.toClient(m, s.handleHeld(held, out))
}

// endOpening ends the opening of a session and handles the frames that waited for it.
func (s *Shim) endOpening(c *session, out []wire.Frame) []wire.Frame {
	return s.handleHeld(c.opening.end(), out)
}

// end ends the opening, and returns the frames that waited for it.
func (o *opening) end() []wire.Frame {
	held := slices.Concat(o.fromAgent, o.fromClient)
	*o = opening{}
	return held
}

// setups counts the unanswered requests that make the agent open a session. Some agents
// send updates for a session before they answer with its id, so those updates wait.
type setups struct {
	anyID     int          // setups that may claim any id: session/new of the shim, and answers to session/new that are parked
	usedID    int          // setups that may claim only used ids: session/new of the client; updates for other ids pass, as the client gets the same id
	unclaimed []wire.Frame // updates for sessions not yet known
}

// mayClaim reports whether an update may be for a session that is being set up.
func (s *Shim) mayClaim(agentID string) bool {
	return s.setups.anyID > 0 || s.setups.usedID > 0 && s.lookup.used[agentID]
}

// claim gives a session the updates that arrived before it was known.
func (p *setups) claim(c *session) {
	p.unclaimed = slices.DeleteFunc(p.unclaimed, func(f wire.Frame) bool {
		m := read(f)
		if m.param("sessionId").Text() != c.agentID {
			return false
		}
		c.opening.fromAgent = append(c.opening.fromAgent, f)
		return true
	})
}

// endSetup ends a setup, which has claimed its updates. kind is the counter in setups that
// counted it. endSetup handles the updates that no other setup may claim.
func (s *Shim) endSetup(kind *int, out []wire.Frame) []wire.Frame {
	*kind--
	if s.setups.anyID > 0 {
		return out
	}
	unclaimed := s.setups.unclaimed
	s.setups.unclaimed = nil
	return s.handleHeld(unclaimed, out) // toClient holds again what a setup may still claim
}

// withholdSetup withholds what the agent sends for a session whose opening request has
// been abandoned. result is the agent's answer to that request.
func (s *Shim) withholdSetup(result []byte) {
	if id := wire.ValueAt(result, "sessionId"); id.IsString() && s.byAgentID[id.Text()] == nil {
		s.withhold(id.Text())
	}
}
