package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A State says what acptap can do with an entry.
type State string

const (
	Plain    State = "plain"    // acptap does not precede its command
	Wrapped  State = "wrapped"  // acptap does
	Registry State = "registry" // Zed's registry knows its command
	Remote   State = "remote"   // it is reached by a URL
	Other    State = "other"    // why describes it
)

// An Entry is an agent or a server in the settings of a client.
type Entry struct {
	Client string   `json:"client"`
	File   string   `json:"file"`
	Name   string   `json:"entry"`
	State  State    `json:"state"`
	Agent  []string `json:"command,omitempty"` // without acptap
	Acptap []string `json:"acptap,omitempty"`  // acptap and its flags, up to --
	Why    string   `json:"why,omitempty"`     // why acptap can do nothing about it

	path    []string
	value   *hujson.Value
	command *command
}

// entries returns the entries of a client, in the order of the file.
func (d *document) entries(c *Client, file string) (list []Entry) {
	for _, path := range c.Lists {
		v := d.at(path...)
		if v == nil {
			continue
		}
		members := membersOf(v)
		last := make(map[string]int, len(members)) // of entries with the same name, the last counts
		for i := range members {
			last[text(&members[i].Name)] = i
		}
		for i := range members {
			m, name := &members[i], text(&members[i].Name)
			inner := append(slices.Clone(path), name)
			if last[name] != i || slices.ContainsFunc(c.Lists, func(l []string) bool { return slices.Equal(l, inner) }) && isMap(&m.Value) {
				continue // overridden, or a list of its own
			}
			e := Entry{Client: c.Name, File: file, Name: name, path: inner, value: &m.Value}
			e.look(c)
			list = append(list, e)
		}
	}
	return list
}

// isMap reports whether an object contains entries and is not an entry itself.
func isMap(v *hujson.Value) bool {
	return value(v, "command") == nil && value(v, "type") == nil && value(v, "url") == nil
}

// look sets the state of the entry.
func (e *Entry) look(c *Client) {
	if e.value.Value.Kind() != '{' {
		e.State, e.Why = Other, "it is no object"
		return
	}
	var err error
	e.command, err = commandOf(e.value, c.Forms)
	kind := ""
	if v := value(e.value, "type"); v != nil {
		kind = text(v)
	}
	switch {
	case err != nil:
		e.State, e.Why = Other, err.Error()
	case e.command != nil && !slices.Contains([]string{"http", "sse", "registry", "extension", "remote"}, kind):
		e.sort()
	case c.Registry:
		e.State = Registry
	case value(e.value, "url") != nil || value(e.value, "serverUrl") != nil || value(e.value, "httpUrl") != nil || e.command != nil:
		e.State, e.Why = Remote, "it is reached by a URL; see acptap help http"
	default:
		e.State, e.Why = Other, "it has no command; the client or an extension knows it"
	}
}

// sort sets the state of an entry with a command.
func (e *Entry) sort() {
	e.State, e.Agent = Plain, e.command.words
	switch n := own(e.command.words); {
	case n > 0:
		e.State, e.Acptap, e.Agent = Wrapped, e.Agent[:n], e.Agent[n:]
	case n < 0:
		e.State, e.Why = Other, "acptap is before it already, but without a -- that says where the agent's command begins; write one"
	default:
		if tool := otherTool(e.Agent); tool != "" {
			e.State, e.Why = Other, fmt.Sprintf("%s is before its agent already; take that away first", tool)
		}
	}
	for i := range e.Agent {
		if i > 0 && e.State == Plain && flagsAt(e.Agent[i:]) > 0 {
			e.State, e.Why = Other, fmt.Sprintf("%s calls acptap already; if that records, nothing is to be done, else edit it by hand", e.Agent[0])
		}
	}
	if e.State == Plain && e.command.form != commandLine && len(e.Agent) == 1 && looksLikeLine(e.Agent[0]) {
		e.State, e.Why = Other, fmt.Sprintf("its command %q is a whole command line, which acptap cannot start; write the program as command, and the rest as args", e.Agent[0])
	}
}

// looksLikeLine reports whether a program's name contains arguments, and is not a path
// with blanks.
func looksLikeLine(program string) bool {
	first, _, blank := strings.Cut(program, " ")
	return blank && !filepath.IsAbs(first) && !strings.ContainsAny(first, `/\~$`)
}

// wrappedName returns the name of an added entry that records another one.
func wrappedName(name string) string { return name + " (acptap)" }
