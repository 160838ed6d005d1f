// Package probe plays scripted conversations to a live agent, MCP server or client, and judges
// how it reacts. A Case is judged by its own expectations and by the rules of conform.
//
// If a case violates the specification itself, it is judged only by what the specification
// says about the peer's answer. Everything else is reported but does not count as a fault.
package probe

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/syntax"
	"github.com/acptap/acptap/replay/script"
)

// A Kind is the kind of peer under test.
type Kind uint8

// The kinds.
const (
	Agent  Kind = iota // an ACP agent
	Server             // an MCP server
	Client             // an ACP client
)

// root returns the folder that holds the cases of k.
func (k Kind) root() string { return [...]string{"agent", "mcp", "client"}[k] }

// A Case is a scripted conversation with the reactions that it expects of the peer.
type Case struct {
	ID     string // path within the Kind's folder without .txt, such as load/unknown; never reused
	File   string
	Title  string      // the requirement, in one sentence
	Why    string      // further explanation
	Tier   script.Tier // default for expected lines that name no tier
	For    []dialect.Dialect
	Needs  []string // capabilities of the peer or of the run that the case requires
	Source string   // URL of the specification's text
	Same   string   // the acp-tck requirement that the case covers
	Owns   []string // rules whose findings have the same cause as this case
	Repeat int      // number of runs, more than 1 for races
	Since  string   // the month in which the case was added, such as 2026-12
	Alone  bool     // runs alone, because it watches processes or measures time
	Do     string   // what a person must do with the client

	// Examples are scripted peers, good and bad, that prove that the case tells them apart.
	Examples []Example

	Text string        // the whole file
	Rule *conform.Rule // the case as a conform.Rule

	asks  bool // it needs the peer to answer a request that no peer knows, with a result or an error
	steps map[dialect.Dialect]*script.Script
	texts map[dialect.Dialect]string // of the steps
}

// An Example is a scripted peer.
type Example struct {
	Name string // good or bad, optionally with an outcome
	Text string
	Line int // number of its first line in the file
}

// Steps returns the steps for d, or nil if the case does not apply to d.
func (c *Case) Steps(d dialect.Dialect) *script.Script { return c.steps[d] }

// cases holds one file per case, in a folder for each Kind.
//
//go:embed cases
var cases embed.FS

// Cases returns the built-in cases for k, sorted by ID, but with version first.
func Cases(k Kind) ([]*Case, error) {
	root, err := fs.Sub(cases, path.Join("cases", k.root()))
	if err != nil {
		return nil, err
	}
	return ReadCases(root, k)
}

// maxCases limits the number of cases in a run.
const maxCases = 1000

// ReadCases reads all *.txt files in dir and its subdirectories. It returns a *syntax.Error if
// a file is invalid.
func ReadCases(dir fs.FS, k Kind) ([]*Case, error) {
	var all []*Case
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".txt" {
			return err
		}
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		c, err := ParseCase(name, string(data), k)
		if err != nil {
			return err
		}
		if all = append(all, c); len(all) > maxCases {
			return fmt.Errorf("there are more than %d cases", maxCases)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *Case) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// ParseCase parses a case. name is its path relative to the folder of cases.
func ParseCase(name, text string, k Kind) (*Case, error) {
	c := &Case{ID: strings.TrimSuffix(name, ".txt"), File: name, Text: text, Repeat: 1, Tier: script.Must, steps: map[dialect.Dialect]*script.Script{}, texts: map[dialect.Dialect]string{}}
	archive := txtar.Parse([]byte(text))
	head, at := string(archive.Comment), 0
	for i, line := range strings.SplitAfter(head, "\n") {
		key, value, isField := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case i == 0:
			c.Title = strings.TrimSpace(line)
		case isField && slices.Contains(fields, key):
			if err := c.set(key, strings.TrimSpace(value)); err != nil {
				return nil, syntax.At(name, text, at, err.Error())
			}
		case isField && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") == "": // probably a misspelled field
			return nil, syntax.At(name, text, at, strconv.Quote(key)+" is no field", fields...)
		default:
			c.Why += line
		}
		at += len(line)
	}
	c.Why = strings.TrimSpace(c.Why)
	if c.Title == "" {
		return nil, syntax.At(name, text, 0, "the first line says what has to hold")
	}
	if len(c.For) == 0 {
		c.For = k.dialects()
	}
	for _, f := range archive.Files {
		if err := c.section(f, text, k); err != nil {
			return nil, err
		}
	}
	for _, d := range c.For {
		if c.steps[d] == nil {
			return nil, syntax.At(name, text, len(text), "no section has the steps for "+scopeName(d))
		}
	}
	c.Rule = ruleOf(c)
	return c, nil
}

// fields are the keys that a case file may set.
var fields = []string{"tier", "for", "needs", "source", "same", "owns", "repeat", "since", "do"}

func (c *Case) set(key, value string) (err error) {
	switch key {
	case "tier":
		return c.Tier.UnmarshalText([]byte(value))
	case "for":
		for word := range strings.FieldsSeq(value) {
			d, ok := script.Dialect(word)
			if !ok {
				return fmt.Errorf("%q is no dialect: want some of v1 v2-early v2 mcp", word)
			}
			c.For = append(c.For, d)
		}
	case "needs":
		c.Needs = strings.Fields(value)
	case "source":
		c.Source = value
	case "same":
		c.Same = value
	case "owns":
		c.Owns = strings.Fields(value)
	case "repeat":
		if c.Repeat, err = strconv.Atoi(value); err != nil || c.Repeat < 1 || c.Repeat > 20 {
			return errors.New("repeat is a number from 1 to 20")
		}
	case "since":
		if _, err := time.Parse("2006-01", value); err != nil {
			return errors.New("since is a month such as 2026-12")
		}
		c.Since = value
	case "do":
		c.Do = value
	}
	return nil
}

func scopeName(d dialect.Dialect) string {
	if d == dialect.MCPLegacy {
		return "mcp"
	}
	return d.String()
}

// dialects returns the dialects that peers of this kind may speak.
func (k Kind) dialects() []dialect.Dialect {
	switch k {
	case Server:
		return []dialect.Dialect{dialect.MCPLegacy}
	case Client:
		return []dialect.Dialect{dialect.ACPv1}
	}
	return []dialect.Dialect{dialect.ACPv1, dialect.ACPv2Early, dialect.ACPv2}
}

// captures are the names that the runner captures before the first step.
var captures = []string{"sid", "init", "new", "login", "call"}

// section parses one section of the file: steps, possibly for one dialect, or a scripted peer.
func (c *Case) section(f txtar.File, text string, k Kind) error {
	at := max(strings.Index(text, "\n-- "+f.Name+" --\n")+1, 0)
	line := syntax.Line(text, at)
	name, _, _ := strings.Cut(f.Name, ":") // the text after the colon is a comment
	words := strings.Fields(name)
	switch {
	case len(words) > 0 && words[0] == "steps":
		for _, d := range c.For {
			if len(words) > 1 && !slices.Contains(words[1:], scopeName(d)) {
				continue
			}
			s, err := script.Parse(c.File, string(f.Data), d, captures...)
			if err != nil {
				var wrong *syntax.Error
				if errors.As(err, &wrong) {
					wrong.Line += line
				}
				return err
			}
			for i := range s.Steps {
				s.Steps[i].Line += line
				if s.Steps[i].Tier == script.Unset {
					s.Steps[i].Tier = c.Tier
				}
			}
			c.steps[d], c.texts[d] = s, string(f.Data)
			c.watch(s)
		}
	case len(words) > 0 && (words[0] == "good" || words[0] == "bad"):
		c.Examples = append(c.Examples, Example{Name: f.Name, Text: string(f.Data), Line: line})
	default:
		return syntax.At(c.File, text, at, "unknown section", "steps", "good", "bad")
	}
	return nil
}

// unknownMethod is the method used by the cases that test unknown requests and notifications.
// Other cases send methods like it only to get an answer of any kind.
const unknownMethod = "_acptap/unknown"

// watch records what the steps require of the run.
func (c *Case) watch(s *script.Script) {
	for i := range s.Steps {
		text := s.Steps[i].Text
		c.asks = c.asks || s.Steps[i].Name != "alive" && strings.Contains(text, "_acptap/") && !strings.Contains(text, unknownMethod)
		switch s.Steps[i].Verb {
		case script.Exits, script.Stalls:
			c.Alone = true
		case script.Children:
			c.Alone = true
			if !slices.Contains(c.Needs, "linux") {
				c.Needs = append(c.Needs, "linux")
			}
		case script.Model:
			if s.Steps[i].Words[0] == "text" && slices.Contains(c.Needs, "prompts") {
				continue // any model produces text
			}
			if !slices.Contains(c.Needs, "model") {
				c.Needs = append(c.Needs, "model")
			}
		}
	}
}

// asked returns the method of the request whose answer step expects, or "" if there is none.
func (c *Case) asked(d dialect.Dialect, step *script.Step) string {
	if step.Verb != script.Result && step.Verb != script.Error && step.Verb != script.Answer {
		return ""
	}
	method := ""
	for i := range c.steps[d].Steps {
		s := &c.steps[d].Steps[i]
		switch {
		case s.Line == step.Line && s.Text == step.Text:
			return method
		case s.Dir == step.Dir || s.Method == "":
		case step.Name == "" || s.Name == step.Name:
			method = s.Method
		}
	}
	return method
}
