// Package script parses handwritten conversations and plays one side of them: the client's to
// an agent under test, or the agent's to a client.
//
// A script has one step per line. Lines that begin with > are the client's messages, lines
// that begin with < the agent's. The player sends the messages of its own side, waits for
// those of the other side, and reports for each of these whether it came:
//
//	hello
//	> @load session/load {"sessionId":"acptap-nobody","cwd":"${cwd}","mcpServers":[]}
//	< error to load
//	alive
//
// The help topic scripts of acptap describes the notation.
package script

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Script is a parsed script.
type Script struct {
	Steps []Step
}

// A Step is one line of a script. Verb determines which fields are set.
type Step struct {
	Line int    // in the text, from 1; a step that a word such as hello expands to has the word's line
	Text string // as written, or as the word expands
	Verb Verb

	Dir    wire.Direction // of the message
	Tier   Tier           // of the wait
	Within time.Duration  // limits the wait; 0: the Player's Patience
	Name   string         // of the request, or of the request that is answered
	Method string
	Code   string   // numeric, of an error
	Value  any      // params, result, error or message, or a pattern for it; nil if not given
	Given  bool     // Value is given
	Bytes  []byte   // of Raw and Bytes; what Stderr writes or Shows expects
	Count  int      // bytes in a piece; size of a padded message; requests of Many; exit status
	Words  []string // arguments of Signal, Exits, Servers, Echo, On and Model
}

// A Verb is what a step does.
type Verb uint8

// The verbs. For Request to None, one side sends and the other waits.
const (
	Request Verb = iota + 1
	Notify
	Result
	Error
	Answer  // a result or an error
	Message // a whole message
	Raw     // bytes sent unchanged
	Pieces  // bytes in pieces of Count, with pauses
	Pad     // a message that padding in _meta makes Count bytes long
	Many    // Count requests
	Answers // answers to all requests so far
	None    // no such message comes; with the method answer, no answer beyond those matched by steps

	On       // how requests with this method are answered when no step answers them
	EOF      // the player closes its output
	Signal   // the process receives a signal
	Exits    // the process exits with status 0, or with the word error another status
	Children // no child processes remain
	Stalls   // the player stops reading for a while
	Wait     // the player waits and answers requests meanwhile
	Forget   // later steps ignore the messages received so far
	Servers  // selects the MCP servers for the next session
	Echo     // what these servers must have seen
	Model    // the model's answers to the next prompts
	Closes   // the other side closes its output
	Shows    // the process has written Bytes to stdout
	Exit     // the player's side exits with a status
	Stderr   // the player's side writes to stderr
)

// A Tier is the consequence of a wait that fails.
type Tier uint8

// The tiers, from weakest to strongest.
const (
	Unset Tier = iota // the case's default
	Tell              // only reported
	Hurts             // allowed by the specification, but a peer breaks on it
	Should
	Must
	Control // the case cannot be decided
)

var tierNames = [...]string{"", "tell", "hurts", "should", "must", "control"}

func (t Tier) String() string { return tierNames[t] }

// MarshalText returns the name of t.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText parses the name of a tier.
func (t *Tier) UnmarshalText(text []byte) error {
	return wire.ParseName(tierNames[:], "tier", text, (*uint8)(t))
}

// Waits reports whether a player of side own waits at this step, and so has an Outcome for it.
func (s *Step) Waits(own wire.Direction) bool {
	switch s.Verb {
	case Exits, Children, Echo, Closes, Shows:
		return true
	}
	return s.Verb <= None && s.Dir != own
}

// noAnswer reports whether the step expects no answer. An answer is wrong even if it came
// earlier.
func (s *Step) noAnswer() bool { return s.Verb == None && s.Method == "answer" }

// MaxSize limits the size of a script in bytes.
const MaxSize = 64 << 10

// Limits of a script.
const (
	maxSteps    = 200
	maxCaptures = 64
)

// dialects maps the names of dialects in scripts and cases.
var dialects = map[string]dialect.Dialect{"v1": dialect.ACPv1, "v2-early": dialect.ACPv2Early, "v2": dialect.ACPv2, "mcp": dialect.MCPLegacy}

// Dialect returns the dialect named v1, v2-early, v2 or mcp.
func Dialect(name string) (d dialect.Dialect, ok bool) {
	d, ok = dialects[name]
	return d, ok
}
