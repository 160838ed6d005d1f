// Package replay plays a tape to one side of a connection: as the agent, to a
// client (Agent), or as the client, to a live agent (Client); and it compares
// two conversations (Compare). A tape is taken as a conversation, not as a list:
// what sessions and calls do beside each other has no order, and ids,
// directories and speed may be others than when it was recorded. Nothing hangs
// on what does not come.
//
// What methods mean, the package asks of proxy/dialect. It knows nothing of
// screens and of the command line.
package replay

import (
	"errors"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// ErrDiffers says that two conversations are not the same.
var ErrDiffers = errors.New("the conversations differ")

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

// A Side is one of two conversations that are compared: what the client saw on
// one tape, or on several that continue a session.
type Side struct {
	Tapes   []*record.Tape
	Session string // only what is on them of it; empty: all
	AsNew   bool   // how a session was opened, and what its history was, is left out
}

// Compare compares two conversations. What differs from run to run by its
// nature counts on the level Exact only: ids, times, numbers of tokens, the
// working directory, and the order of what sessions do beside each other.
func Compare(a, b Side, level Level) (Diff, error) {
	before, err := a.Outline(level)
	if err != nil {
		return Diff{}, err
	}
	after, err := b.Outline(level)
	if err != nil {
		return Diff{}, err
	}
	before, after = covered(before, after)
	return Diff{Level: level, Hunks: hunks(before, after)}, nil
}
