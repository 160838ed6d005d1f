// Package compare compares two conversations, each on one tape or several. It writes
// both as outlines, which leave out what differs from run to run by its nature, and
// returns the lines in which they differ.
//
// Lines that differ always mean that the conversations do. What the chosen level
// leaves out may differ without being reported.
package compare

import (
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A Level says what counts when two conversations are compared.
type Level uint8

// The levels.
const (
	Shape   Level = iota // turns and how they ended, calls, kinds of messages and of tool calls; chunks in a row are one message
	Content              // also what was said, and what tool calls were about and gave
	Exact                // every frame with all of its values, but not its time
	None                 // nothing
)

var levelNames = [...]string{"shape", "content", "exact", "none"}

// String returns shape, content, exact or none.
func (l Level) String() string { return wire.Name(levelNames[:], uint8(l)) }

// MarshalText returns the name of l.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText takes a name that String returns.
func (l *Level) UnmarshalText(text []byte) error {
	return wire.ParseName(levelNames[:], "level", text, (*uint8)(l))
}

// A Side is one of two conversations that are compared: what the client saw on one
// tape, or on several tapes that continue a session.
type Side struct {
	Tapes   []*record.Tape
	Session string // compares only this session; empty: all
	AsNew   bool   // leaves out how sessions were opened, and their history
}

// Tapes compares two conversations. What differs from run to run by its nature counts
// on the level Exact only: ids, numbers of tokens, the working directory, and the order
// of messages of different sessions. Times never count.
func Tapes(a, b Side, level Level) (Diff, error) {
	before, err := a.outline(level)
	if err != nil {
		return Diff{}, err
	}
	after, err := b.outline(level)
	if err != nil {
		return Diff{}, err
	}
	before, after = withSecretsAlike(before, after)
	return Diff{Level: level, Hunks: hunks(before, after)}, nil
}
