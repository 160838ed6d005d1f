package settings

import (
	"fmt"
	"strings"
)

// A Client is a program that starts agents or MCP servers, and where it is configured.
type Client struct {
	Name  string // on the command line
	Title string

	user        []place  // its settings files, the likeliest first
	project     []string // those in a project
	projectHere bool     // only in the working directory, not above it
	state       place    // a file that the client rewrites constantly, so acptap must not

	lists  [][]string // paths of the objects that hold the entries
	forms  []form     // how an entry may say its command, tried in this order
	fields string     // members that a new entry needs besides its command

	registry bool   // entries without a command may come from Zed's registry
	next     string // what makes it start the agent anew
	note     string // what else changes with acptap in between
	paste    func(name string, words []string) string

	source string // what documents all this
}

// A form is a way to write a command in an entry.
type form int

const (
	program     form = iota // "command": "x", "args": ["y"]
	nested                  // "command": {"path": "x", "args": ["y"]}
	commandList             // "command": ["x", "y"]
	argv                    // "argv": ["x", "y"]
	commandLine             // "command": "x y", and no "args"
)

// Next says how to make the client restart its agent.
func (c *Client) Next() string { return c.next }

// Note says what else changes with acptap in between; it may be empty.
func (c *Client) Note() string { return c.note }

// IsFile reports whether acptap can write the settings. If not, Paste returns lines for
// them.
func (c *Client) IsFile() bool { return c.paste == nil }

// HasProject reports whether projects can have their own settings.
func (c *Client) HasProject() bool { return len(c.project) > 0 }

// IsOfProjects reports whether acptap can write the settings of projects only.
func (c *Client) IsOfProjects() bool { return len(c.user) == 0 && len(c.project) > 0 }

// Paste returns lines that make the client start words as name, for settings that acptap
// does not write.
func (c *Client) Paste(name string, words []string) string { return c.paste(name, words) }

// Find returns the client of that name.
func Find(name string) (*Client, error) {
	for _, c := range Clients() {
		if c.Name == name {
			return c, nil
		}
	}
	var names []string
	for _, c := range Clients() {
		if strings.Contains(c.Name, name) || strings.HasPrefix(name, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		return nil, fmt.Errorf("unknown client %q; did you mean %s?", name, strings.Join(names, " or "))
	}
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return nil, fmt.Errorf("unknown client %q; known are %s; for others, see acptap help editors", name, strings.Join(names, ", "))
}
