package shim

import "github.com/acptap/acptap/proxy/wire"

// A call is a request to the agent that is not answered, and whose answer the shim
// handles.
type call struct {
	answered  func(m message, out []wire.Frame) []wire.Frame // handles the agent's response
	forgotten func()                                         // called if the response is no longer awaited; may be nil
}

// expect has c handle the agent's response to the request with an id. A call that was
// open under the same id is forgotten. So is the oldest of too many calls; its response
// then passes unchanged.
func (s *Shim) expect(id []byte, c *call) {
	replaced, oldest := s.calls.Ask(wire.ClientToAgent, 0, id, c)
	for _, gone := range []*call{replaced, oldest} {
		if gone != nil && gone.forgotten != nil {
			gone.forgotten()
		}
	}
}
