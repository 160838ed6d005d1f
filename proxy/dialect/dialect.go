// Package dialect is the one place that knows what methods mean: in the three dialects of
// the Agent Client Protocol (ACP), in the revisions of the Model Context Protocol (MCP),
// and in MCP's session proposals. A Tracker follows a connection frame by frame, and
// reports its dialect, the session of each frame, the request that each response answers,
// and where turns begin and end. Tables say which capability allows a method, where
// frames have ids, and which fields count when two frames are compared.
//
// Nothing here fails on any input. A frame with an unknown method is handled like any
// other. A Tracker's memory is bounded, and its state can be stored and restored. It does
// not check a protocol's rules, and knows only what crossed the wire.
package dialect

import "github.com/acptap/acptap/proxy/wire"

// A Protocol is what a connection speaks.
type Protocol uint8

// The protocols.
const (
	AnyProtocol Protocol = iota // not yet known: inferred from the traffic
	ACP
	MCP
)

var protocolNames = [...]string{"", "acp", "mcp"}

// String returns acp or mcp, or "" for AnyProtocol.
func (p Protocol) String() string { return wire.Name(protocolNames[:], uint8(p)) }

// MarshalText returns the name of p.
func (p Protocol) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText accepts a name that String returns.
func (p *Protocol) UnmarshalText(text []byte) error {
	return wire.ParseName(protocolNames[:], "protocol", text, (*uint8)(p))
}

// A Dialect is one generation of a protocol. It is a property of a connection, inferred
// from its first messages.
type Dialect uint8

// The dialects.
const (
	Unknown    Dialect = iota
	ACPv1              // protocolVersion 1, or 0
	ACPv2Early         // the draft of version 2 until 2026-06-24: clientInfo, agentInfo
	ACPv2              // the current draft of version 2: info on both sides
	MCPLegacy          // 2024-11-05 to 2025-11-25: begins with initialize
	MCPModern          // 2026-07-28: no initialize, version in each request's _meta
)

var dialectNames = [...]string{"", "v1", "v2-early", "v2", "legacy", "modern"}

// Protocol returns the protocol that d belongs to.
func (d Dialect) Protocol() Protocol {
	switch d {
	case ACPv1, ACPv2Early, ACPv2:
		return ACP
	case MCPLegacy, MCPModern:
		return MCP
	}
	return AnyProtocol
}

// String returns a short name such as v2-early, or "" for Unknown.
func (d Dialect) String() string { return wire.Name(dialectNames[:], uint8(d)) }

// MarshalText returns the name of d.
func (d Dialect) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText accepts a name that String returns.
func (d *Dialect) UnmarshalText(text []byte) error {
	return wire.ParseName(dialectNames[:], "dialect", text, (*uint8)(d))
}

// A Proposal is one of the session proposals made for MCP.
type Proposal uint8

// The proposals.
const (
	NoProposal Proposal = iota
	SEP1364A1           // alternative 1: sessions capability, session/create, session/delete
	SEP1364A2           // alternative 2: initialize starts sessions, terminate ends them
	DataLayer           // data-layer sessions: _meta["io.modelcontextprotocol/session"]
)

var proposalNames = [...]string{"", "sep1364-a1", "sep1364-a2", "dls"}

// String returns sep1364-a1, sep1364-a2 or dls, or "" for NoProposal.
func (p Proposal) String() string { return wire.Name(proposalNames[:], uint8(p)) }

// MarshalText returns the name of p.
func (p Proposal) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText accepts a name that String returns.
func (p *Proposal) UnmarshalText(text []byte) error {
	return wire.ParseName(proposalNames[:], "proposal", text, (*uint8)(p))
}
