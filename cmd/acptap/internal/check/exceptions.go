package check

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// exceptionsFile is read from the working directory unless --config names another file.
const exceptionsFile = ".acptap-check"

// exceptions say which findings count, and how much. The zero value contains none.
//
// Each is a line with a reason:
//
//	ignore ACP108 agent=my-agent@1.*   # not named before 2.0
//	note ACP405,RPC method=session/*   # the client takes both
//
// A line begins with ignore, or with the strength to give the rules' findings. Rules are
// IDs or prefixes of IDs; those of acptap probe's cases have a slash. All conditions after
// them must hold: agent and client (NAME, or NAME@VERSION), dialect (v1, v2-early, v2,
// legacy, modern) and method. A * at the end of a value matches anything, and a value with
// blanks or # must be in double quotes. If several lines match a finding, the last one
// counts.
type exceptions struct {
	statements []statement
}

type statement struct {
	strength   conform.Strength // None: ignore
	rules      []string
	conditions []condition
}

// A condition is one condition of a statement.
type condition struct {
	key   string
	value string
}

// parseExceptions reads a file of exceptions. name is for errors.
func parseExceptions(r io.Reader, name string) (*exceptions, error) {
	c := &exceptions{}
	return c, eachLine(r, name, func(line string) error {
		s, ok, err := parseStatement(line)
		if ok {
			c.statements = append(c.statements, s)
		}
		return err
	})
}

// parseStatement parses a line. ok is false if it is blank or only a comment.
func parseStatement(line string) (s statement, ok bool, err error) {
	words, reason, err := split(line)
	if err != nil || len(words) == 0 {
		return s, false, err
	}
	if s.strength, err = verb(words[0]); err != nil {
		return s, false, err
	}
	if len(words) == 1 {
		return s, false, fmt.Errorf("%s what? The id of a rule is missing", words[0])
	}
	for id := range strings.SplitSeq(words[1], ",") {
		if err := checkID(id); err != nil && !strings.Contains(id, "/") {
			return s, false, err
		}
		s.rules = append(s.rules, id)
	}
	for _, word := range words[2:] {
		c, err := parseCondition(word)
		if err != nil {
			return s, false, err
		}
		s.conditions = append(s.conditions, c)
	}
	if reason == "" {
		return s, false, errors.New("the reason is missing; write it after a # at the end of the line")
	}
	return s, true, nil
}

// verbs are the words that start a line.
var verbs = []string{"ignore", "note", "hurts", "warning", "violation"}

func verb(word string) (s conform.Strength, err error) {
	if word == "ignore" {
		return conform.None, nil
	}
	if err := s.UnmarshalText([]byte(word)); err != nil || s == conform.None {
		advice := "there are " + strings.Join(verbs, ", ")
		if near := termtext.Near(word, verbs); len(near) > 0 {
			advice = "did you mean " + near[0] + "?"
		}
		return s, fmt.Errorf("a line cannot begin with %q; %s", word, advice)
	}
	return s, nil
}

// keys are the keys of conditions.
var keys = []string{"agent", "client", "dialect", "method"}

func parseCondition(word string) (condition, error) {
	key, value, ok := strings.Cut(word, "=")
	if !ok || !slices.Contains(keys, key) {
		return condition{}, fmt.Errorf("%q is no condition; there are %s", word, strings.Join(keys, "=, ")+"=")
	}
	if value == "" {
		return condition{}, fmt.Errorf("%s= has no value", key)
	}
	if key == "dialect" {
		var d dialect.Dialect
		if err := d.UnmarshalText([]byte(value)); err != nil {
			return condition{}, err
		}
	}
	return condition{key, value}, nil
}

// split splits a line into words and the reason after #.
func split(line string) (words []string, reason string, err error) {
	var word strings.Builder
	quoted, begun := false, false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for i, r := range line {
		switch {
		case r == '"':
			quoted, begun = !quoted, true
		case quoted:
			word.WriteRune(r)
		case r == '#' && !begun:
			return words, strings.TrimSpace(line[i+1:]), nil
		case r == ' ' || r == '\t' || r == '\r':
			end()
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quoted {
		return nil, "", errors.New(`a " is not closed`)
	}
	end()
	return words, "", nil
}

// Strength returns the strength of a finding on a connection, or None to ignore it.
// chosen holds the arguments of --select: a rule whose full ID is among them is not
// ignored.
func (c *exceptions) Strength(f *conform.Finding, conn *dialect.Connection, chosen []string) conform.Strength {
	strength := f.Strength
	for i := range c.statements {
		if s := &c.statements[i]; s.fits(f, conn) {
			strength = s.strength
		}
	}
	if strength == conform.None && slices.ContainsFunc(chosen, func(id string) bool { return strings.EqualFold(id, f.Rule.ID) }) {
		return f.Strength
	}
	return strength
}

func (s *statement) fits(f *conform.Finding, conn *dialect.Connection) bool {
	return begins(f.Rule.ID, s.rules) && !slices.ContainsFunc(s.conditions, func(c condition) bool { return !c.holds(f, conn) })
}

func (c condition) holds(f *conform.Finding, conn *dialect.Connection) bool {
	switch c.key {
	case "agent":
		return isParty(c.value, conn.Agent, conn.AgentVersion)
	case "client":
		return isParty(c.value, conn.Client, conn.ClientVersion)
	case "dialect":
		return c.value == conn.Dialect.String()
	}
	return like(c.value, f.Method)
}

// isParty reports whether NAME or NAME@VERSION matches a peer. Names may start with @.
func isParty(want, name, version string) bool {
	if i := strings.LastIndexByte(want, '@'); i > 0 && !like(want, name) {
		return like(want[:i], name) && like(want[i+1:], version)
	}
	return like(want, name)
}

// like reports whether text equals want or, if want ends with *, begins with it.
func like(want, text string) bool {
	if prefix, ok := strings.CutSuffix(want, "*"); ok {
		return strings.HasPrefix(text, prefix)
	}
	return want == text
}
