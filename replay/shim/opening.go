package shim

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// An opening has the frames that both sides send for a session while it is being opened.
type opening struct {
	active     bool         // the session is being opened; set by startLoad, nativeLoad.sendMissing and awaitReplayEnd, cleared by endOpening
	overflowed bool         // there was no room for frames of the agent: they pass; set by holdUntilOpen, cleared by endOpening
	fromAgent  []wire.Frame // also those that setups.claim has found
	fromClient []wire.Frame
}

// holdsAgent reports whether frames of the agent wait.
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
	held := slices.Concat(c.opening.fromAgent, c.opening.fromClient)
	c.opening = opening{}
	return s.handleHeld(held, out)
}
