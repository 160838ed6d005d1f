// Package conform judges what both sides of a connection sent by the specifications
// of their protocols. It reports only what the text decides and the frames prove: where
// the text is silent there is at most a note, and where bytes are missing from the tape
// there is silence. Findings are computed from frames, never stored.
//
// The words of a rule are in rules/ID.txt, its function is in the table of its subject. A
// Checker is fed the frames of a tape once, keeps a bounded state, and does not fail on
// any input. Silence is no approval: a Checker tells which rules had an occasion, and
// which could not be judged and why.
//
// The package knows neither stores nor files nor screens: frames come in, findings go
// out.
package conform

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Rule is one point that a specification decides.
type Rule struct {
	ID      string   // such as ACP441; an id is never given again
	Name    string   // such as cancelled-prompt
	Clauses []Clause // the first that fits the connection counts; none fits: the rule is not about it
	Fault   Fault    // whose fault it is
	Needs   Needs    // what must be whole on the tape to accuse somebody
	About   string   // the method or prompt content of the capability that it is about, as in dialect.Capability; empty: none
	On      []On     // what it wants to see
	Text    Text

	// Elsewhere says where the rule is judged, and why there, if that is not here. Then
	// Check only notes the occasions, and no example breaks the rule.
	Elsewhere string

	// Check looks at one step, before the state takes the step in. It calls
	// Report.Tried where the rule has an occasion, and Report.Add for each breach.
	Check func(*Step, *Report)
}

// A Strength says how sure it is that something is wrong, and by whose word.
type Strength uint8

// The strengths. A finding is never stronger than the clause of its rule.
const (
	None      Strength = iota
	Note               // legal, unstable or left open, but known to hurt real peers
	Warning            // a SHOULD, a definition in prose, or a MUST whose breach is likely but not proven
	Violation          // a MUST, the published schema, or JSON-RPC 2.0 itself
)

var strengthNames = [...]string{"", "note", "warning", "violation"}

// String returns note, warning or violation, and nothing for None.
func (s Strength) String() string { return wire.Name(strengthNames[:], uint8(s)) }

// MarshalText returns the name of s.
func (s Strength) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes a name that String returns.
func (s *Strength) UnmarshalText(text []byte) error {
	return wire.ParseName(strengthNames[:], "strength", text, (*uint8)(s))
}

// A Fault says who broke a rule.
type Fault uint8

// Who it may be. Acptap is at fault where acptap made the frame, which a Checker
// tells only if it is asked to.
const (
	Sender Fault = iota // in a Rule: whoever sent the frame; in a Finding: never
	Client
	Agent // MCP's server
	Acptap
)

var faultNames = [...]string{"", "client", "agent", "acptap"}

// String returns client, agent or acptap, and nothing for Sender.
func (f Fault) String() string { return wire.Name(faultNames[:], uint8(f)) }

// MarshalText returns the name of f.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText takes a name that String returns.
func (f *Fault) UnmarshalText(text []byte) error {
	return wire.ParseName(faultNames[:], "side", text, (*uint8)(f))
}

// faultOf returns the side that writes in a direction.
func faultOf(dir wire.Direction) Fault {
	if dir == wire.ClientToAgent {
		return Client
	}
	return Agent
}

// Needs say what must be whole on the tape for a rule to accuse anybody.
type Needs uint8

// What a rule may need. Each is checked where the rule has its step; what names an
// older frame or a session needs these to be whole too.
const (
	Frame      Needs = iota // nothing but the frame itself
	Pair                    // the request that a response answers
	Hello                   // what both sides said of themselves
	Session                 // all of the session since it was set up
	Connection              // all of the connection since it began
	End                     // that the connection has ended, and how
)

// An On is a kind of step that a rule wants to see. Zero fields fit all.
type On struct {
	Kinds Kinds
	Name  string       // method, of a response its request's; or a variant of session/update
	From  dialect.Side // who sent it
}

// Kinds is a set of kinds of frames, and of what is no frame.
type Kinds uint16

// The kinds. Entries of a batch are steps of their own.
const (
	Requests      Kinds = 1 << wire.Request
	Responses     Kinds = 1 << wire.Response
	Notifications Kinds = 1 << wire.Notification
	Invalids      Kinds = 1 << wire.Invalid
	Batches       Kinds = 1 << wire.Batch
	Oversizeds    Kinds = 1 << wire.Oversized
	Exchanges     Kinds = 1 << 14 // a request over HTTP with its response, of which an event stream may still go on
	Ends          Kinds = 1 << 15 // after the last frame of a connection that has ended
	Messages            = Requests | Responses | Notifications
	Lines               = Messages | Invalids | Batches | Oversizeds
)

// A Clause says for which connections a rule stands in which text.
type Clause struct {
	Protocol dialect.Protocol // AnyProtocol: both; also before the dialect is known
	For      dialect.Dialects // zero: all of the rule's protocol, also before the dialect is known
	Proposal dialect.Proposal // only where this session proposal is in use
	Since    string           // the first revision of MCP, such as 2025-06-18; empty: the first of all
	Until    string           // the last one; empty: the last of all
	Strength Strength
	Word     string // by which the text asks for it: MUST, SHOULD, only; empty: a definition
	Source   Source
}

// A Source is where a text stands.
type Source struct {
	Title string // such as "ACP v1, Prompt Turn, Cancellation"
	URL   string // with the section
}

// A Text says what a rule is about, each in one sentence; there is Markdown for code.
type Text struct {
	Asks   string // what the specification asks for, in our words
	Finds  string // what is found
	Spares string // what is not, though it looks like it; empty: nothing
	Do     string // what the side at fault has to do
}

// fits reports whether the clause stands for a connection. A dialect that is not
// settled, keys of two at once, and a version of ACP that is not published have only
// the clauses which stand for all.
func (c *Clause) fits(rule *Rule, conn *dialect.Connection, settled bool) bool {
	if p := rule.Protocol(); p != dialect.AnyProtocol && p != conn.Protocol {
		return false
	}
	if c.Protocol != dialect.AnyProtocol && c.Protocol != conn.Protocol {
		return false
	}
	if c.Proposal != dialect.NoProposal && c.Proposal != conn.Proposal {
		return false
	}
	if (c.Since != "" && conn.Version < c.Since) || (c.Until != "" && conn.Version > c.Until) {
		return false
	}
	return c.For == 0 || settled && !conn.Hybrid && !conn.Unpublished() && c.For.Has(conn.Dialect)
}

// Protocol returns the protocol that r is about, by its id; AnyProtocol of JSON-RPC.
func (r *Rule) Protocol() dialect.Protocol {
	switch {
	case strings.HasPrefix(r.ID, "ACP"):
		return dialect.ACP
	case strings.HasPrefix(r.ID, "MCP"):
		return dialect.MCP
	}
	return dialect.AnyProtocol
}

// Strength returns the greatest strength that a finding of r may have.
func (r *Rule) Strength() Strength {
	return slices.MaxFunc(r.Clauses, func(a, b Clause) int { return int(a.Strength) - int(b.Strength) }).Strength
}

// Date is that of both specifications, as they were read.
const Date = "2026-08-22"

// Section returns the title without the document, such as "Prompt Turn, Cancellation".
func (s Source) Section() string {
	_, section, _ := strings.Cut(s.Title, ", ")
	return section
}
