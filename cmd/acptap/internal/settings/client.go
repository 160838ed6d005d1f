package settings

import (
	"fmt"
	"strings"
)

// A Client is a program that starts agents or MCP servers, and how it is told which.
type Client struct {
	Name  string // on the command line
	Title string

	user        []place  // its settings files, the likeliest first
	project     []string // those in a project
	projectHere bool     // only in the working directory, not above it
	state       place    // what it writes itself, all the time, and nobody else should

	lists  [][]string // paths of the objects that hold the entries
	forms  []form     // how an entry may say its command, tried in this order
	fields string     // members that a new entry needs besides its command

	registry bool   // entries without a command may come from Zed's registry
	next     string // what makes it start the agent anew
	note     string // what else is different behind acptap
	paste    func(name string, words []string) string

	source string // what documents all this
}

// A form is a way in which an entry says its command.
type form int

const (
	program     form = iota // "command": "x", "args": ["y"]
	nested                  // "command": {"path": "x", "args": ["y"]}
	commandList             // "command": ["x", "y"]
	argv                    // "argv": ["x", "y"]
	commandLine             // "command": "x y", and no "args"
)

// Next says what makes the client start its agent anew.
func (c *Client) Next() string { return c.next }

// Note says what else is different behind acptap, or nothing.
func (c *Client) Note() string { return c.note }

// IsFile reports whether acptap can write the settings. Else Paste returns lines.
func (c *Client) IsFile() bool { return c.paste == nil }

// HasProject reports whether projects have settings of their own.
func (c *Client) HasProject() bool { return len(c.project) > 0 }

// IsOfProjects reports whether only projects have files that acptap can write.
func (c *Client) IsOfProjects() bool { return len(c.user) == 0 && len(c.project) > 0 }

// Paste returns the lines that start words as name, for a client whose settings
// acptap does not write.
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
