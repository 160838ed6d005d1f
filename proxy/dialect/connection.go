package dialect

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A Connection is what both sides have said about themselves.
type Connection struct {
	Protocol      Protocol
	Dialect       Dialect
	Proposal      Proposal
	Hybrid        bool   // an initialize object has keys of two dialects
	Version       string // the negotiated protocolVersion as JSON without quotes: 1, 2, 2025-11-25
	Client        string // name
	ClientTitle   string // a display name, if it gave one
	ClientVersion string
	Agent         string // name; of the server in MCP
	AgentTitle    string // a display name, if it gave one
	AgentVersion  string
}

// Unpublished reports whether both sides agreed on a version of ACP that is not published.
// The dialect is then the newest one.
func (c *Connection) Unpublished() bool {
	n, err := strconv.ParseUint(c.Version, 10, 64)
	return c.Protocol == ACP && err == nil && n > 2
}

// Spoken returns the protocol and its version, such as ACP v1 or MCP 2025-06-18, or "" if
// unknown. An MCP version may be any text off the wire.
func (c *Connection) Spoken() string {
	name, version := "", c.Dialect.String()
	switch {
	case c.Unpublished():
		name, version = "ACP", "v"+c.Version
	case c.Protocol == ACP:
		name = "ACP"
	case c.Protocol == MCP:
		name, version = "MCP", cmp.Or(c.Version, version)
	default:
		return ""
	}
	return strings.TrimSuffix(name+" "+version, " ")
}

// Connections tells the connections on a tape apart. A tape has several if the agent was
// restarted, as on an imported one, or if an ACP client sends initialize again. In MCP
// the latter may happen within one connection (SEP-1364). Before the first frame only the
// protocol is set.
type Connections struct {
	Protocol Protocol // of the tape

	initialized bool // initialize has been answered
	exited      bool // the agent has ended
}

// StartsNext handles the next frame of the tape, and reports whether it begins another
// connection.
func (c *Connections) StartsNext(f *Frame) bool {
	if f.Kind == wire.Mark {
		m := wire.ReadMark(f.Frame)
		c.exited = c.exited || m.Exit != nil || m.Closed != ""
		return false
	}
	again := f.Dir == wire.ClientToAgent && f.Kind == wire.Request && f.Does(Initializes) && c.Protocol != MCP
	next := c.exited || c.initialized && again
	if next {
		*c = Connections{Protocol: c.Protocol}
	}
	c.initialized = c.initialized || f.Events.Has(Initialized)
	return next
}
