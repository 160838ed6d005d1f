// Package help holds the topics of acptap help: Markdown that is embedded in the
// program, written for a terminal or as man pages, and read on the web as it is.
//
// It understands the Markdown that the topics use and no more: headings,
// paragraphs, lists of one level, fenced code, tables, `code`, **bold**, *emphasis*
// and links.
package help

import (
	"embed"
	"strings"
)

//go:embed *.md
var files embed.FS

// names are the topics in the order in which they are listed.
var names = []string{
	"basics",
	"editors",
	"inspector",
	"filters",
	"resume",
	"servers",
	"http",
	"mcp-sessions",
	"testing",
	"checking",
	"portable",
	"sharing",
	"spans",
	"tables",
	"store",
	"limits",
	"speed",
	"trouble",
}

// A Topic is one text about the use of acptap.
type Topic struct {
	Name     string // a word, also the name of the file without .md
	Title    string
	Markdown string
}

// Topics returns all topics in the order in which they are best listed.
func Topics() []Topic {
	var topics []Topic
	for _, name := range names {
		text, err := files.ReadFile(name + ".md")
		if err != nil {
			panic("help: " + err.Error()) // embedded
		}
		title, _, _ := strings.Cut(string(text), "\n")
		topics = append(topics, Topic{name, strings.TrimPrefix(title, "# "), string(text)})
	}
	return topics
}

// Find returns the topic with a name, and whether there is one.
func Find(name string) (Topic, bool) {
	for _, t := range Topics() {
		if t.Name == name {
			return t, true
		}
	}
	return Topic{}, false
}
