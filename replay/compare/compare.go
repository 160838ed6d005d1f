// Package compare compares two conversations, each on one or more tapes. It writes both
// as outlines, which leave out what naturally differs between runs, and returns the lines
// that differ.
//
// Differing lines always mean that the conversations differ. Differences in what the
// chosen level leaves out may go unnoticed.
package compare

import (
	"regexp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/linediff"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A Level says what counts when two conversations are compared.
type Level uint8

// The levels.
const (
	Shape   Level = iota // turns and how they ended, calls, kinds of messages and tool calls; consecutive chunks are one message
	Content              // also what was said, and the subjects and results of tool calls
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

// A Side is one of the two conversations to compare: what the client saw on one tape, or
// on several that continue a session.
type Side struct {
	Tapes   []*record.Tape
	Session string // compare only this session; empty: all
	AsNew   bool   // leave out how sessions were opened, and their history
}

// Tapes compares two conversations. What naturally differs between runs counts only at
// level Exact: ids, token counts, the working directory, and the order of messages of
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

// Align compares two outlines as Tapes compares two conversations: steps outside of Same
// differ. If a secret was removed from a step, Align removes it from the step's
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

// withSecretsAlike removes from each list the secrets that were removed from the other:
// it replaces a line that matches a redacted line of the other list with that line.
func withSecretsAlike(a, b []string) (_, _ []string) {
	return withSecretsOf(a, b), withSecretsOf(b, a)
}

// withSecretsOf returns lines with each line that matches a redacted line of others
// replaced by that line.
func withSecretsOf(lines, others []string) []string {
	var patterns []*regexp.Regexp
	var texts []string
	same := make(map[string]bool, len(others))
	for _, text := range others {
		if !same[text] && strings.Contains(text, redact.Placeholder) {
			patterns, texts = append(patterns, rpc.Pattern(text, rpc.AnyText)), append(texts, text)
		}
		same[text] = true
	}
	if len(patterns) == 0 {
		return lines
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line
		for n, p := range patterns {
			if !same[line] && p.MatchString(line) {
				out[i] = texts[n]
				break
			}
		}
	}
	return out
}
