package filter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Direction returns the direction that a word names: c2a or client, a2c or agent, err or
// stderr.
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

// Kind returns the kind named word, or the only one whose name begins with word, such as
// notif.
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

// A word is one value of a closed set, with its test.
type word struct {
	name  string
	reads needs
	fits  func(*Subject) verdict
}

// closed returns the key of a closed set of words.
func closed(name, means string, words []word) Key {
	return Key{name, means, wordOps, words, never, func(w written, _ string) (test, string) {
		value := w.value
		if d, err := Direction(value); err == nil && name == "dir" {
			value = d.String()
		}
		i := slices.IndexFunc(words, func(one word) bool { return one.name == value })
		if i < 0 {
			return test{}, fmt.Sprintf("%q is not a value of %s", w.value, w.key)
		}
		return test{reads: words[i].reads, ask: words[i].fits}, ""
	}}
}

// namesOf returns the words for the values of a type from first to last. of returns a
// frame's value.
func namesOf[T interface {
	~uint8
	String() string
}](first, last T, of func(*Subject) T) (list []word) {
	for v := first; v <= last; v++ {
		list = append(list, word{v.String(), 0, func(s *Subject) verdict { return sure(of(s) == v) }})
	}
	return list
}

func failureWords() []word {
	list := namesOf(dialect.FailedRequest, dialect.BadExit, (*Subject).Failure)
	list[dialect.Unanswered-dialect.FailedRequest].reads = ofFuture
	return list
}

func byWords() []word {
	return []word{
		found("client", func(f *conform.Finding) bool { return f.Fault == conform.Client }),
		found("agent", func(f *conform.Finding) bool { return f.Fault == conform.Agent }),
	}
}

func stateWords() []word {
	return []word{
		{"error", 0, func(s *Subject) verdict { return sure(s.Failed) }},
		{"open", ofFuture, func(s *Subject) verdict { return sure(s.Open) }},
		{"gap", ofBytes, isGap},
		{"failed", ofFuture, func(s *Subject) verdict { return sure(s.Failure() != dialect.NoFailure) }},
		{"cancelled", ofBytes, isCancelled},
		{"redelivered", 0, func(s *Subject) verdict { return sure(s.Redelivered) }},
		found("finding", func(*conform.Finding) bool { return true }),
		found("violation", func(f *conform.Finding) bool { return f.Strength == conform.Violation }),
		found("warning", func(f *conform.Finding) bool { return f.Strength == conform.Warning }),
		found("hurts", func(f *conform.Finding) bool { return f.Strength == conform.Hurts }),
		found("note", func(f *conform.Finding) bool { return f.Strength == conform.Note }),
	}
}

// found returns a word that selects frames with a finding that fits accepts.
func found(name string, fits func(*conform.Finding) bool) word {
	return word{name, ofFindings, func(s *Subject) verdict { return sure(slices.ContainsFunc(s.Findings, fits)) }}
}

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
