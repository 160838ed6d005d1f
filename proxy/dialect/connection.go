package dialect

import "github.com/acptap/acptap/proxy/wire"

// A Connection is what both sides said of themselves.
type Connection struct {
	Protocol      Protocol
	Dialect       Dialect
	Proposal      Proposal
	Hybrid        bool   // keys of two dialects in one object of initialize
	Version       string // the negotiated protocolVersion as JSON without quotes: 1, 2, 2025-11-25
	Client        string // name
	ClientVersion string
	Agent         string // name; of the server in MCP
	AgentTitle    string // a name for people, if it gave one
	AgentVersion  string
}

// Connections tells the connections on a tape apart. A tape has several where
// the agent was started anew, as on one that was imported, or where a client of
// ACP sends initialize once more. In MCP that may happen on one connection
// (SEP-1364). The zero value with a protocol stands before the first frame.
type Connections struct {
	Protocol Protocol // of the tape

	initialized bool // initialize has been answered
	exited      bool // the agent has ended
}

// StartsNext takes the next frame of the tape, and reports whether it is the
// first of a further connection.
func (c *Connections) StartsNext(f *Frame) bool {
	if f.Kind == wire.Mark {
		c.exited = c.exited || wire.ReadMark(f.Frame).Exit != nil
		return false
	}
	again := f.Dir == wire.ClientToAgent && f.Kind == wire.Request && f.Method == "initialize" && c.Protocol != MCP
	next := c.exited || c.initialized && again
	if next {
		*c = Connections{Protocol: c.Protocol}
	}
	c.initialized = c.initialized || f.Events.Has(Initialized)
	return next
}
