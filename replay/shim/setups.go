package shim

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// setups has the requests that make the agent open a session and are not answered yet. Some
// agents send updates for a session before they answer with its id, so those updates wait.
type setups struct {
	ofClient  int          // session/new of the client
	ofShim    int          // requests of the shim
	unclaimed []wire.Frame // updates for sessions that are unknown as yet
}

// mayClaim reports whether an update may be for a session that is being set up.
func (s *Shim) mayClaim(agentID string) bool {
	return s.setups.ofShim > 0 || s.setups.ofClient > 0 && s.lookup.used[agentID]
}

// claim gives a session the updates that came for it before it was known.
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

// endSetup ends a setup of the shim. After the last one it handles the updates that no
// session has claimed.
func (s *Shim) endSetup(out []wire.Frame) []wire.Frame {
	s.setups.ofShim--
	if s.setups.ofShim > 0 {
		return out
	}
	unclaimed := s.setups.unclaimed
	s.setups.unclaimed = nil
	return s.handleHeld(unclaimed, out)
}

// withholdSetup withholds what the agent sends for a session that it has opened for a
// request for which nobody waits any more. result is its answer to that request.
func (s *Shim) withholdSetup(result []byte) {
	if id := get(result, "sessionId"); id.IsString() && s.byAgentID[id.Text()] == nil {
		s.withhold(id.Text())
	}
}
