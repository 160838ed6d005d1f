package shim

import "github.com/acptap/acptap/proxy/wire"

// A call is a request of the client that the agent has not answered, and whose
// answer concerns the shim.
type call struct {
	answered  func(m message, out []wire.Frame) []wire.Frame // takes the agent's response
	forgotten func()                                         // called if that is not waited for any more; may be nil
}

// expect has c take the agent's response to the client's request with an id. What
// was open under the same id is forgotten. Of too many calls, the oldest is
// forgotten, and its answer passes as it is.
func (s *Shim) expect(id []byte, c *call) {
	replaced, oldest := s.calls.Ask(wire.ClientToAgent, id, c)
	for _, gone := range []*call{replaced, oldest} {
		if gone != nil && gone.forgotten != nil {
			gone.forgotten()
		}
	}
}
