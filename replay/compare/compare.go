// Package compare compares two conversations, each on one or more tapes. It writes both
// as outlines, which leave out what naturally differs between runs, and returns the lines
// that differ.
//
// Differing lines always mean that the conversations differ. Differences in what the
// chosen level leaves out may go unnoticed.
package compare

import (
	"hash/maphash"
	"iter"
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
	seed := maphash.MakeSeed()
	before, after := newSheet(seed), newSheet(seed)
	if err := a.outline(level, before); err != nil {
		return Diff{}, err
	}
	if err := b.outline(level, after); err != nil {
		return Diff{}, err
	}
	ofBefore, ofAfter := secretsAlike(before.all(), after.all())
	before.replace(ofBefore)
	after.replace(ofAfter)
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
	before, after := texts(a), texts(b)
	ofBefore, ofAfter := secretsAlike(slices.All(before), slices.All(after))
	for i, text := range ofBefore {
		before[i], l.Old[i].Text = text, text
	}
	for i, text := range ofAfter {
		after[i], l.New[i].Text = text, text
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

// secretsAlike returns the lines of each list that have secrets which were removed from the
// other list: those that match a redacted line there, with that line's text.
func secretsAlike(a, b iter.Seq2[int, string]) (ofA, ofB map[int]string) {
	return secretsOf(a, b), secretsOf(b, a)
}

func secretsOf(lines, others iter.Seq2[int, string]) map[int]string {
	var patterns []*regexp.Regexp
	var redacted []string
	seen := map[string]bool{}
	for _, text := range others {
		if strings.Contains(text, redact.Placeholder) && !seen[text] {
			text = strings.Clone(text)
			seen[text] = true
			patterns, redacted = append(patterns, rpc.Pattern(text, rpc.AnyText)), append(redacted, text)
		}
	}
	if len(patterns) == 0 {
		return nil
	}
	seed := maphash.MakeSeed()
	same := map[uint64]bool{} // hashes, because there may be a million lines
	for _, text := range others {
		same[maphash.String(seed, text)] = true
	}
	found := map[int]string{}
	for i, line := range lines {
		if same[maphash.String(seed, line)] {
			continue
		}
		if n := slices.IndexFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(line) }); n >= 0 {
			found[i] = redacted[n]
		}
	}
	return found
}
