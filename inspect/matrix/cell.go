package matrix

import "github.com/acptap/acptap/proxy/wire"

// A Mark is what is known about a peer's capability.
type Mark uint8

// The marks.
const (
	NotOffered Mark = iota // and not used
	Unused                 // offered, never used
	Works                  // offered, and worked at least once
	Broken                 // offered, but missing (-32601), in breach of the protocol, or never answered
	Unclear                // offered, but only failed; the cause is unclear
	Unoffered              // used without being offered
	Hurting                // offered and used as allowed, but known to hurt a peer
	NotSeen                // a habit that no tape had occasion to show
)

var markNames = [...]string{"not offered", "unused", "works", "broken", "unclear", "unoffered", "hurts", "not seen"}

// String returns the name of a mark, such as works.
func (m Mark) String() string { return wire.Name(markNames[:], uint8(m)) }

// MarshalText returns the name of m.
func (m Mark) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Sign returns the mark as one character; a blank for NotOffered.
func (m Mark) Sign() string { return [...]string{" ", "·", "✓", "!", "?", "✗", "~", "–"}[m] }

// A Cell is the evidence for one capability or habit of one peer. Its numbers count
// connections, calls and findings.
type Cell struct {
	Connections int      `json:"connections"`        // on which both sides stated what they offer, or that had occasion for the habit
	Offered     int      `json:"offered"`            // of these, those that offer or show it
	Worked      int      `json:"worked"`             // calls that succeeded, and notifications
	Missing     int      `json:"missing,omitempty"`  // calls answered with -32601 although it was offered
	Failed      int      `json:"failed,omitempty"`   // calls answered with another error
	Findings    int      `json:"findings,omitempty"` // breaches of rules about it
	Hangs       int      `json:"hangs,omitempty"`    // requests that were never answered
	Hurts       int      `json:"hurts,omitempty"`    // allowed behaviour that is known to hurt a peer
	Rules       []string `json:"rules,omitempty"`    // broken rules
	First       *Where   `json:"first,omitempty"`    // the frame that shows the mark: of what is broken, otherwise of the first use
	Tapes       int      `json:"tapes"`              // tapes with evidence of it
	Outcome     string   `json:"outcome,omitempty"`  // of a case of acptap probe, which has no numbers

	habit bool   // its column is one of habits
	worst Mark   // mark that First shows
	tape  string // the last one counted in Tapes
}

// A Where is a frame of a tape.
type Where struct {
	Tape  string `json:"tape"` // id, or the path of a file
	Frame uint64 `json:"frame"`
}

// Mark returns the mark that the evidence supports.
func (c Cell) Mark() Mark {
	if c.Outcome != "" {
		return outcomes[c.Outcome]
	}
	used := c.Worked+c.Missing+c.Failed > 0
	switch {
	case c.habit && c.Connections == 0:
		return NotSeen
	case c.Offered == 0 && used:
		return Unoffered
	case c.Offered == 0:
		return NotOffered
	case c.Missing > 0 || c.Findings > 0 || c.Hangs > 0:
		return Broken
	case c.Hurts > 0:
		return Hurting
	case c.Worked > 0:
		return Works
	case used:
		return Unclear
	}
	return Unused
}

// shows records a frame as evidence of a mark.
func (c *Cell) shows(m Mark, at Where) {
	if c.First == nil || m == Broken && c.worst != Broken {
		c.First, c.worst = &at, m
	}
	if c.tape != at.Tape {
		c.tape = at.Tape
		c.Tapes++
	}
}
