package settings

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

//go:embed clients.jsonc paste
var data embed.FS

// A Client is a program that starts agents or MCP servers, together with the places where
// it is configured. clients.jsonc explains its members.
type Client struct {
	Name  string // on the command line
	Title string
	Next  string // how to make the client restart its agent
	Note  string // what else changes when acptap is in between; may be empty

	User        []string
	Project     []string
	ProjectHere bool
	State       string
	Lists       [][]string
	Forms       []form
	Fields      json.RawMessage
	Registry    bool
	With        []string // flags of acptap proxy for a new entry
}

// A form is a way to write a command in an entry.
type form string

const (
	program     form = "program"     // "command": "x", "args": ["y"]
	nested      form = "nested"      // "command": {"path": "x", "args": ["y"]}
	commandList form = "commandList" // "command": ["x", "y"]
	argv        form = "argv"        // "argv": ["x", "y"]
	commandLine form = "commandLine" // "command": "x y", and no "args"
)

// members returns the members of an entry that express a command. more continues its
// words.
func (f form) members(words []string, more string) []string {
	switch f {
	case argv:
		return []string{`"argv": [` + quoteAll(words) + more + "]"}
	case commandList:
		return []string{`"command": [` + quoteAll(words) + more + "]"}
	}
	return []string{`"command": ` + quote(words[0]), `"args": [` + quoteAll(words[1:]) + more + "]"}
}

// Clients returns the table of clients.
var Clients = sync.OnceValue(func() (list []*Client) {
	text, err := data.ReadFile("clients.jsonc")
	if err == nil {
		text, err = hujson.Standardize(text)
	}
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		panic("settings: " + err.Error()) // cannot happen: the file is embedded
	}
	return list
})

// IsFile reports whether acptap can write the settings. If not, Paste returns lines for
// them: acptap does not write settings that are programs, or in a language whose parsers
// drop blanks and comments.
func (c *Client) IsFile() bool { return len(c.Lists) > 0 }

// Paste returns lines that make the client start words as name, for settings that acptap
// does not write.
func (c *Client) Paste(name string, words []string) string {
	lisp := make([]string, len(words))
	for i, w := range words {
		lisp[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
	}
	text, err := data.ReadFile("paste/" + c.Name + ".txt")
	if err != nil {
		panic("settings: " + err.Error()) // cannot happen: the file is embedded
	}
	return strings.NewReplacer("{{name}}", quote(name), "{{program}}", quote(words[0]), "{{args}}", quoteAll(words[1:]),
		"{{words}}", quoteAll(words), "{{lisp}}", strings.Join(lisp, " ")).Replace(string(text))
}

// byHand returns the lines to write into settings that acptap cannot read or write.
func (c *Client) byHand(w Wrapper, name string) string {
	words := append(w.Words(name), "THE COMMAND THAT IS THERE NOW")
	return strings.Join(c.Forms[0].members(words, ", …"), ",\n")
}

// Find returns the client of that name.
func Find(name string) (*Client, error) {
	var near, names []string
	for _, c := range Clients() {
		if c.Name == name {
			return c, nil
		}
		if strings.Contains(c.Name, name) || strings.HasPrefix(name, c.Name) {
			near = append(near, c.Name)
		}
		names = append(names, c.Name)
	}
	if len(near) > 0 {
		return nil, fmt.Errorf("unknown client %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return nil, fmt.Errorf("unknown client %q; known are %s; for others, see acptap help editors", name, strings.Join(names, ", "))
}
