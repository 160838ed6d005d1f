// Package script reads conversations written by hand and plays one side of them: the
// client's to an agent that is tested, or the agent's to a client.
//
// A script has a step on each line. Lines that begin with > are the client's messages, those
// that begin with < are the agent's. The player sends those of its own side; it waits for
// those of the other side, and says of each whether it came:
//
//	hello
//	> @load session/load {"sessionId":"acptap-nobody","cwd":"${cwd}","mcpServers":[]}
//	< error to load
//	alive
//
// The help topic scripts of acptap tells the notation.
package script

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Script is what a text says.
type Script struct {
	Steps []Step
}

// A Step is one line of a script. Which fields are set depends on Verb.
type Step struct {
	Line int    // in the text, from 1; of a step that a word such as hello stands for, that of the word
	Text string // as written; of such a step, as the word's meaning has it
	Verb Verb

	Dir    wire.Direction // of a message
	Tier   Tier           // of what is waited for
	Within time.Duration  // limits the wait; 0: the Player's Patience
	Name   string         // of a request, or of the one that is answered
	Method string
	Code   string   // of an error, a number
	Value  any      // params, result, error or message, or a pattern for it; nil: none is given
	Given  bool     // there is a Value
	Bytes  []byte   // of Raw and Bytes; what Stderr writes; what is shown
	Count  int      // bytes in a piece; size of a padded message; exit status
	Words  []string // of Signal, Exits, Servers, Echo, On and Model
}

// A Verb says what a step does.
type Verb uint8

// The verbs. Of Request to None a side sends, or the other one waits.
const (
	Request Verb = iota + 1
	Notify
	Result
	Error
	Answer  // a result or an error
	Message // a whole message
	Raw     // bytes as they are
	Pieces  // bytes in pieces of Count, with pauses
	Pad     // a message that Count bytes in _meta make long
	None    // no such message comes

	On       // how requests of a method are answered that no step answers
	EOF      // the player's side ends its output
	Signal   // the process gets a signal
	Exits    // the process ends; with the word error, not with status 0
	Children // no processes are left of it
	Stalls   // the player does not read for a time
	Wait     // the player waits, and goes on to answer requests
	Forget   // no later step waits for what has come
	Servers  // which MCP servers the next session gets
	Echo     // what these servers have seen
	Model    // what the model says to the next prompts
	Closes   // the other side ends its output
	Shows    // the process has written Bytes to its stdout
	Exit     // the player's side ends with a status
	Stderr   // the player's side writes to stderr
)

// A Tier says what follows if a step that waits waits in vain.
type Tier uint8

// The tiers, weakest first.
const (
	Unset Tier = iota // as the case says
	Tell              // what came is told
	Hurts             // the text allows it, but a peer breaks on it
	Should
	Must
	Control // nothing can be said of the case
)

var tierNames = [...]string{"", "tell", "hurts", "should", "must", "control"}

func (t Tier) String() string { return tierNames[t] }

// MarshalText returns the name of the tier.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the name of a tier.
func (t *Tier) UnmarshalText(text []byte) error {
	return wire.ParseName(tierNames[:], "tier", text, (*uint8)(t))
}

// Waits reports whether the player of side own waits for the step, so that it has an Outcome.
func (s *Step) Waits(own wire.Direction) bool {
	switch s.Verb {
	case Exits, Children, Echo, Closes, Shows:
		return true
	}
	return s.Verb <= None && s.Dir != own
}

// MaxSize limits the text of a script, in bytes.
const MaxSize = 64 << 10

// Limits of a script.
const (
	maxSteps    = 200
	maxCaptures = 64
)

// dialects are the words for dialects in scripts and cases.
var dialects = map[string]dialect.Dialect{"v1": dialect.ACPv1, "v2-early": dialect.ACPv2Early, "v2": dialect.ACPv2, "mcp": dialect.MCPLegacy}

// Dialect returns the dialect with a name: v1, v2-early, v2 or mcp.
func Dialect(name string) (d dialect.Dialect, ok bool) {
	d, ok = dialects[name]
	return d, ok
}
