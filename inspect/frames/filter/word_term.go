package filter

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Direction returns the direction that a word names: c2a or client, a2c or
// agent, err or stderr, by the name of the portable form or of who writes.
func Direction(word string) (wire.Direction, error) {
	switch word {
	case "c2a", "client":
		return wire.ClientToAgent, nil
	case "a2c", "agent":
		return wire.AgentToClient, nil
	case "err", "stderr":
		return wire.AgentStderr, nil
	}
	return 0, fmt.Errorf("unknown direction %q: use c2a (client), a2c (agent) or err (stderr)", word)
}

// Kind returns the kind whose name is word, or the only one whose name begins
// with word, such as notif.
func Kind(word string) (wire.Kind, error) {
	var names, fits []string
	var found wire.Kind
	for k := wire.Invalid; k <= wire.Body; k++ {
		name := k.String()
		names = append(names, name)
		if name == word {
			return k, nil
		}
		if word != "" && strings.HasPrefix(name, word) {
			found, fits = k, append(fits, name)
		}
	}
	switch len(fits) {
	case 0:
		return 0, fmt.Errorf("unknown kind %q: use one of %s", word, strings.Join(names, ", "))
	case 1:
		return found, nil
	}
	return 0, fmt.Errorf("%q is ambiguous: %s", word, strings.Join(fits, " or "))
}

// A wordSet is one of the closed sets of words.
type wordSet uint8

const (
	kind wordSet = iota
	dir
	origin
	state
	failure
	slow
	by
)

// Words of the set state.
const (
	isError uint8 = iota
	open
	gap
	failed
	redelivered
	finding
	violation
	warning
	note
)

// words returns the words of a set; the place of a word is the value that it
// stands for.
func words(s wordSet) []string {
	switch s {
	case kind:
		return names(wire.Invalid, wire.Body)
	case dir:
		return names(wire.ClientToAgent, wire.AgentStderr)
	case origin:
		return names(wire.Wire, wire.Rewritten)
	case failure:
		return names(dialect.FailedRequest, dialect.BadExit)
	case slow:
		return names(dialect.Silent, dialect.Hung)
	case by:
		return []string{"client", "agent"}
	}
	return []string{
		isError: "error", open: "open", gap: "gap", failed: "failed", redelivered: "redelivered",
		finding: "finding", violation: "violation", warning: "warning", note: "note",
	}
}

func names[T interface {
	~uint8
	String() string
}](first, last T) []string {
	var list []string
	for v := first; v <= last; v++ {
		list = append(list, v.String())
	}
	return list
}

// A wordTest asks for a word of a closed set.
type wordTest struct {
	set   wordSet
	value uint8
}

func wordTerm(s wordSet) func(written, string) (test, string) {
	return func(w written, _ string) (test, string) {
		if d, err := Direction(w.value); err == nil && s == dir {
			return wordTest{dir, uint8(d)}, ""
		}
		for i, name := range words(s) {
			if name == w.value {
				return wordTest{s, uint8(i)}, ""
			}
		}
		return nil, fmt.Sprintf("%q is not a value of %s", w.value, w.key)
	}
}

func (t wordTest) needs() needs {
	switch {
	case t.set == state && (t.value == open || t.value == failed), t.set == failure && t.kind() == dialect.Unanswered:
		return ofFuture
	case t.set == state && t.value == gap:
		return ofBytes
	case t.set == state && t.value >= finding, t.set == by:
		return ofFindings
	}
	return 0
}

func (t wordTest) fits(s *Subject) verdict {
	switch t.set {
	case kind:
		return sure(uint8(s.Kind) == t.value)
	case dir:
		return sure(uint8(s.Dir) == t.value)
	case origin:
		return sure(uint8(s.Origin) == t.value)
	case failure:
		return sure(s.Failure() == t.kind())
	case slow:
		return sure(s.Slow() == dialect.Silent+dialect.Slow(t.value))
	case by:
		return sure(hasFinding(s, func(f Finding) bool { return f.Fault == ByClient+Fault(t.value) }))
	}
	switch t.value {
	case isError:
		return sure(s.Failed)
	case open:
		return sure(s.Open)
	case failed:
		return sure(s.Failure() != dialect.NoFailure)
	case redelivered:
		return sure(s.Redelivered)
	case gap:
		return isGap(s)
	case finding:
		return sure(len(s.Findings) > 0)
	}
	return sure(hasFinding(s, func(f Finding) bool { return f.Strength == strengthOf(t.value) }))
}

// kind returns what a word of the set failure stands for.
func (t wordTest) kind() dialect.Failure { return dialect.FailedRequest + dialect.Failure(t.value) }

func isGap(s *Subject) verdict {
	switch {
	case s.Kind != wire.Mark:
		return no
	case s.bare():
		return perhaps
	}
	m := wire.ReadMark(s.Frame.Frame)
	return sure(m.Gap != 0 || m.Damage != 0)
}
