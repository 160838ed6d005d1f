package shim

import (
	"crypto/rand"
	"fmt"

	"github.com/acptap/acptap/proxy/wire"
)

// onNew handles session/new, which passes.
func (s *Shim) onNew(m message, out []wire.Frame) []wire.Frame {
	if m.env.ID != nil {
		s.expect(m.env.ID, &call{answered: func(m message, out []wire.Frame) []wire.Frame {
			return s.endSetup(&s.setups.usedID, s.onSessionMade(m, out))
		}, displaced: func() {
			s.startJob(func() { // displaced itself sends nothing
				s.do(func(out []wire.Frame) []wire.Frame { return s.endSetup(&s.setups.usedID, out) })
			})
		}})
		s.setups.usedID++
		s.lookUpIDs()
	}
	return append(out, m.Frame)
}

// uniqueSize is the length from which an id is considered unique, such as a UUID. Agents
// that count their sessions use shorter ids.
const uniqueSize = 20

// onSessionMade handles the agent's answer to session/new or session/fork.
//
// The protocol requires unique ids, but agents that forget their sessions count from one
// again. If an earlier session has the id, the client gets another id for the new
// session; otherwise the two would become one in the store. The client also gets another
// id if the agent cannot open earlier sessions, the id is short, and the store was not
// read in time.
func (s *Shim) onSessionMade(m message, out []wire.Frame) []wire.Frame {
	id := m.env.Result.Get("sessionId")
	if m.env.Error != nil || !id.IsString() {
		return append(out, m.Frame)
	}
	if s.lookup.unsure() && s.held.room(m) {
		s.setups.anyID++ // until unpark: the agent may send updates for the session meanwhile
		return s.park(m, out)
	}
	agentID := id.Text()
	clientID := agentID
	if s.lookup.used[agentID] || s.byAgentID[agentID] != nil || s.byClientID[agentID] != nil || s.lookup.running && !s.opensSessions() && len(agentID) < uniqueSize {
		clientID = otherID(agentID)
	}
	c := s.addSession(clientID)
	if !s.opensSessions() {
		s.startBackground(func() { s.acquireLease(c, s.Agent) })
	}
	if clientID != agentID {
		m = m.patched("result.sessionId", wire.Quote(clientID))
	}
	s.bind(c, agentID, m.env.Result)
	return s.endOpening(c, append(out, m.Frame))
}

// otherID makes a clientID that differs from the agentID.
func otherID(agentID string) string {
	var b [4]byte
	rand.Read(b[:])
	return fmt.Sprintf("%s~%x", agentID, b)
}

// newID makes a clientID for a session that the agent does not know yet (a UUID, RFC 9562,
// version 4).
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
