// Package compare compares two conversations, each on one tape or several. It writes both
// as outlines, which leave out what naturally differs between runs, and returns the lines
// that differ.
//
// Lines that differ always mean that the conversations differ. What the chosen level leaves
// out may differ unnoticed.
package compare

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/linediff"
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

// UnmarshalText parses a name that String returns.
func (l *Level) UnmarshalText(text []byte) error {
	return wire.ParseName(levelNames[:], "level", text, (*uint8)(l))
}

// A Side is one of the two conversations to compare: what the client saw on one tape, or on
// several tapes that continue a session.
type Side struct {
	Tapes   []*record.Tape
	Session string // compares only this session; empty: all
	AsNew   bool   // leaves out how sessions were opened, and their history
}

// Tapes compares two conversations. What naturally differs between runs counts only at the
// level Exact: ids, numbers of tokens, the working directory, and the order of messages of
// different sessions. Times never count.
func Tapes(a, b Side, level Level) (Diff, error) {
	stepsA, err := a.outline(level)
	if err != nil {
		return Diff{}, err
	}
	stepsB, err := b.outline(level)
	if err != nil {
		return Diff{}, err
	}
	before, after := withSecretsAlike(texts(stepsA), texts(stepsB))
	return Diff{Level: level, Hunks: hunks(before, after)}, nil
}

// An Alignment has the outlines of two conversations and what they have in common.
type Alignment struct {
	Old, New []Step
	Same     []linediff.Match // in order
}

// Align compares two outlines as Tapes compares two conversations: the steps outside of
// Same differ. If a secret was removed from a step, Align removes it from the step's
// counterpart too.
func Align(a, b []Step) Alignment {
	l := Alignment{Old: slices.Clone(a), New: slices.Clone(b)}
	before, after := withSecretsAlike(texts(a), texts(b))
	for i, text := range before {
		l.Old[i].Text = text
	}
	for i, text := range after {
		l.New[i].Text = text
	}
	l.Same = linediff.Common(before, after)
	return l
}

func texts(steps []Step) []string {
	list := make([]string, len(steps))
	for i, s := range steps {
		list[i] = s.Text
	}
	return list
}
