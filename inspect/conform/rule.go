// Package conform judges what both sides of a connection sent against the specifications
// of their protocols. It reports only what the text decides and the frames prove. Where
// the text is silent it reports at most a note; where the tape lacks bytes it reports
// nothing. Findings are computed from frames, never stored.
//
// A rule's texts are in rules/ID-NAME.txt, its function is in its subject's table. A
// Checker reads the frames of a tape once, keeps bounded state, and accepts any input.
// The absence of findings does not prove conformance: a Checker reports which rules had
// an occasion, and which it could not judge and why.
//
// The package knows nothing of stores, files or screens: frames come in, findings go out.
package conform

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Rule is a single check based on a specification.
type Rule struct {
	ID      string   // such as ACP441; never reused
	Name    string   // such as cancelled-prompt
	Clauses []Clause // the first that applies to the connection counts; if none does, neither does the rule
	Fault   Fault    // whose fault it is
	Needs   Needs    // the part of the tape that must be complete before the rule accuses anyone
	About   string   // the method or prompt content whose capability the rule concerns, as in dialect.Capability; empty: none
	On      []On     // the steps that it looks at
	Text    Text
	Hurts   []Victim // peers known to break on it; at least one if a clause's strength is Hurts
	Hang    bool     // a finding may be a hang: Evidence.Hang

	// Elsewhere, if not empty, says where else the rule is judged and why. Check then
	// only records when the rule applies, and no example breaks the rule.
	Elsewhere string

	// Check examines a step before the step changes the state. It calls Report.Tried each
	// time the rule applies, and Report.Add for each breach.
	Check func(*Step, *Report)
}

// A Strength says how certain a breach is, and what forbids it.
type Strength uint8

// Strengths. A finding is never stronger than its rule's clause.
const (
	None      Strength = iota
	Note               // legal, unstable or unspecified
	Hurts              // allowed or unspecified, but a named peer is known to break on it
	Warning            // a SHOULD, a definition in prose, or a MUST whose breach is likely but not proven
	Violation          // a MUST, the published schema, or JSON-RPC 2.0 itself
)

var strengthNames = [...]string{"", "note", "hurts", "warning", "violation"}

// String returns note, hurts, warning or violation, or the empty string for None.
func (s Strength) String() string { return wire.Name(strengthNames[:], uint8(s)) }

// MarshalText returns the name of s.
func (s Strength) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts a name that String returns.
func (s *Strength) UnmarshalText(text []byte) error {
	return wire.ParseName(strengthNames[:], "strength", text, (*uint8)(s))
}

// A Fault says who broke a rule.
type Fault uint8

// Possible culprits. Acptap is blamed for frames that acptap made, and only if Options.Own
// is set.
const (
	Sender Fault = iota // in a Rule: whoever sent the frame; in a Finding: never
	Client
	Agent // in MCP, the server
	Acptap
)

var faultNames = [...]string{"", "client", "agent", "acptap"}

// String returns client, agent or acptap, or the empty string for Sender.
func (f Fault) String() string { return wire.Name(faultNames[:], uint8(f)) }

// MarshalText returns the name of f.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText accepts a name that String returns.
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

// Needs says which part of the tape must be complete before a rule accuses anyone.
type Needs uint8

// What a rule may need at its step. Any older frame or session named in the evidence must
// be complete, too.
const (
	Frame      Needs = iota // nothing beyond the frame itself
	Pair                    // the request that a response answers
	Hello                   // what both sides said about themselves
	Session                 // the whole session since it was set up
	Connection              // the whole connection since it began
	End                     // that the connection has ended, and how
)

// An On is a kind of step that a rule looks at. Zero fields match everything.
type On struct {
	Kinds Kinds
	Name  string       // method (of a response, its request's method) or variant of session/update
	From  dialect.Side // who sent it
}

// Kinds is a set of kinds of frames, exchanges and ends.
type Kinds uint16

// Kinds. Each entry of a batch is a step.
const (
	Requests      Kinds = 1 << wire.Request
	Responses     Kinds = 1 << wire.Response
	Notifications Kinds = 1 << wire.Notification
	Invalids      Kinds = 1 << wire.Invalid
	Batches       Kinds = 1 << wire.Batch
	Oversizeds    Kinds = 1 << wire.Oversized
	Exchanges     Kinds = 1 << 14           // an HTTP request with its response, whose event stream may still be open
	Ends          Kinds = 1 << 15           // after the last frame of a connection that has ended
	Results             = Responses | 1<<13 // responses without an error
	Messages            = Requests | Responses | Notifications
	Lines               = Messages | Invalids | Batches | Oversizeds
)

// A Clause says which text states a rule, and which connections it applies to.
type Clause struct {
	Protocol dialect.Protocol // AnyProtocol: both; also before the dialect is known
	For      dialect.Dialects // zero: all dialects of the rule's protocol, also before the dialect is known
	Proposal dialect.Proposal // only where this session proposal is in use
	Since    string           // the first revision of MCP, such as 2025-06-18; empty: no lower limit
	Until    string           // the last one; empty: no upper limit
	Strength Strength
	Word     string // the text's key word: MUST, SHOULD, only; empty: a definition
	Source   Source
}

// A Source is a place in a specification.
type Source struct {
	Title string // such as "ACP v1, Prompt Turn, Cancellation"
	URL   string // including the section
}

// A Text describes a rule. Each field is one sentence; code is Markdown.
type Text struct {
	Asks   string // what the specification requires, in our words
	Finds  string // what the rule finds
	Spares string // what is not reported although it looks similar; empty: nothing
	Do     string // what the side at fault must do
	Brief  string // a short name for what hurts, such as "text after the end of a turn"; empty: harmless
}

// fits reports whether the clause applies to a connection. If the dialect is not settled,
// the keys are those of two dialects, or the ACP version is unpublished, only clauses for
// all dialects apply.
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

// Protocol returns the protocol that r's ID names; AnyProtocol for JSON-RPC.
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

// Date is when both specifications were read.
const Date = "2026-08-22"

// Section returns the title without the document, such as "Prompt Turn, Cancellation".
func (s Source) Section() string {
	_, section, _ := strings.Cut(s.Title, ", ")
	return section
}
