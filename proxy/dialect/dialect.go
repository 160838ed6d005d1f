// Package dialect is the one place that knows what methods mean: in the three
// dialects of the Agent Client Protocol (ACP), in the revisions of the Model
// Context Protocol (MCP), and in MCP's session proposals. It answers which
// dialect a connection speaks, whose session a frame belongs to, what begins
// and ends a turn, and what of a frame matters when two are compared. A method
// that is in no table is never an error: it is a frame like others.
package dialect

import (
	"iter"

	"github.com/acptap/acptap/proxy/wire"
)

// A Protocol is what a connection speaks.
type Protocol uint8

// The protocols.
const (
	AnyProtocol Protocol = iota // not known yet: found from the traffic
	ACP
	MCP
)

var protocolNames = [...]string{"", "acp", "mcp"}

// String returns acp or mcp, and nothing for AnyProtocol.
func (p Protocol) String() string { return wire.Name(protocolNames[:], uint8(p)) }

// MarshalText returns the name of p.
func (p Protocol) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText takes a name that String returns.
func (p *Protocol) UnmarshalText(text []byte) error {
	return wire.ParseName(protocolNames[:], "protocol", text, (*uint8)(p))
}

// A Dialect is a protocol in one of its generations. It is a property of a
// connection, found from its first messages.
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

// Protocol returns the protocol that d is a generation of.
func (d Dialect) Protocol() Protocol {
	switch d {
	case ACPv1, ACPv2Early, ACPv2:
		return ACP
	case MCPLegacy, MCPModern:
		return MCP
	}
	return AnyProtocol
}

// String returns a short name such as v2-early, and nothing for Unknown.
func (d Dialect) String() string { return wire.Name(dialectNames[:], uint8(d)) }

// MarshalText returns the name of d.
func (d Dialect) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes a name that String returns.
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

// String returns sep1364-a1, sep1364-a2 or dls, and nothing for NoProposal.
func (p Proposal) String() string { return wire.Name(proposalNames[:], uint8(p)) }

// MarshalText returns the name of p.
func (p Proposal) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText takes a name that String returns.
func (p *Proposal) UnmarshalText(text []byte) error {
	return wire.ParseName(proposalNames[:], "proposal", text, (*uint8)(p))
}

// A Frame is a wire.Frame and what it means on its connection.
type Frame struct {
	wire.Frame
	Annotation
}

// Asks reports whether f is a request that is to have a response of its own. One
// that stands in the place of another has none: the other has.
func (f *Frame) Asks() bool { return f.Kind == wire.Request && f.Origin != wire.Rewritten }

// Annotation is what a frame means on its connection.
type Annotation struct {
	Method  string       // of a response: its request's; empty if there is none or it is not known
	Update  string       // the variant of a session/update, such as agent_message_chunk
	Session string       // the id of the session that the frame belongs to; empty: the connection's
	Request uint64       // of a response: Seq of its request, or of the batch that the request is in; with RequestCancelled, of the request that is taken back; 0 if that is not known
	Events  Events       // what happens with this frame
	Entries []Annotation // of a batch: one for each of its first 1,024 entries, in order; then Method, Update and Answers are empty, and Session is set if the entries agree
}

// Replies yields what answers or cancels a request: a itself, or entries of it.
func (a *Annotation) Replies() iter.Seq[*Annotation] {
	return func(yield func(*Annotation) bool) {
		if a.Request != 0 && !yield(a) {
			return
		}
		for i := range a.Entries {
			if e := &a.Entries[i]; e.Request != 0 && !yield(e) {
				return
			}
		}
	}
}

// OnlyNames reports whether a message does no more than name a session, which need
// not exist: a request to open, close or delete it, or the refusal.
func (a *Annotation) OnlyNames() bool {
	switch EffectOf(AnyProtocol, a.Method) {
	case Opens, Closes, Deletes:
		return a.Events&(SessionOpened|SessionClosed|SessionGone) == 0
	}
	return false
}

// Events is a set of things that happen with a frame.
type Events uint16

// The events.
const (
	Initialized      Events = 1 << iota // the connection's dialect is settled
	SessionOpened                       // made, loaded, resumed or forked: stands at the successful response
	SessionClosed                       // closed, or ended: stands at the successful response
	SessionGone                         // deleted: stands at the successful response
	SessionLost                         // the answer says that the session is unknown (MCP -32043, ACP -32002 to load or resume)
	StateRenewed                        // a new state or expiry of a data-layer session
	TurnBegan                           // a prompt
	TurnEnded                           // the prompt's response, where that ends the turn; else the state_update that says idle
	ToolFailed                          // an MCP tool's result says isError
	RequestCancelled                    // a peer takes back an open request of its own; in MCP it wants no answer any more
)

// Has reports whether all of e are in the set.
func (s Events) Has(e Events) bool { return s&e == e }

// Failed reports whether a message, which means what about says, is a response
// that says that something went wrong: an error, or an MCP tool's result that
// says isError.
func Failed(e wire.Envelope, about *Annotation) bool {
	return e.Method == nil && has(e.Error) || about.Events.Has(ToolFailed)
}

// SessionFacts is what a frame tells about its session beyond About. Empty fields tell
// nothing; a batch with entries of several sessions tells nothing.
type SessionFacts struct {
	Cwd     string // working directory: stands with SessionOpened
	Title   string // the title that the agent gave
	Prompt  string // with TurnBegan: the first line of the prompt's text, at most 80 characters
	Parent  string // with SessionOpened by a fork: the id of the source
	Setup   uint64 // with SessionOpened: Seq of the request that asked for it
	Expires string // expiresAt of a data-layer session, as sent
}

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
