// Package help contains the topics of acptap help: embedded Markdown files, which it
// formats for terminals and as man pages, and which are readable on the web as they are.
//
// It supports only the Markdown that the topics use: headings, paragraphs, one-level
// lists, fenced code, tables, `code`, **bold**, *emphasis* and links.
package help

import (
	"embed"
	"strings"
)

//go:embed *.md
var files embed.FS

// names lists the topics in the order of listings.
var names = []string{
	"basics",
	"refs",
	"editors",
	"inspector",
	"filters",
	"json",
	"resume",
	"servers",
	"http",
	"mcp-sessions",
	"testing",
	"scripts",
	"probe",
	"rules",
	"faults",
	"holds",
	"checking",
	"portable",
	"sharing",
	"spans",
	"tables",
	"config",
	"store",
	"limits",
	"speed",
	"trouble",
}

// A Topic is a text about one aspect of using acptap.
type Topic struct {
	Name     string // a word, also the name of the file without .md
	Title    string
	Markdown string
}

// Topics returns all topics in the order of listings.
func Topics() []Topic {
	var topics []Topic
	for _, name := range names {
		text, err := files.ReadFile(name + ".md")
		if err != nil {
			panic("help: " + err.Error()) // cannot happen: the files are embedded
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
