// Package commands contains the help of commands: embedded text files, one per command.
//
// NAME.txt is the help of acptap NAME, and A-B.txt that of acptap A B. Lines such as
// "-- examples --" begin its sections:
//
//	examples  at most three, the most used first
//	flags     a line for each group of flags: its title, and after a colon their names
//	details   what the command does, beyond its one sentence
//	more      topics that say more
package commands

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed *.txt
var files embed.FS

// A Help is the help of a command, without its one-sentence summary and its usage.
type Help struct {
	Examples string
	Flags    []Group
	Details  string
	Topics   []string
}

// A Group is a list of flags that the help shows below a title.
type Group struct {
	Title string
	Flags []string // their names
}

// Of returns the help of a command. For a command without a file, such as cobra's own, it
// uses the text in cmd.
func Of(cmd *cobra.Command) Help {
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	text, err := files.ReadFile(strings.ReplaceAll(name, " ", "-") + ".txt")
	if err != nil {
		return Help{Examples: cmd.Example, Details: strings.TrimSpace(cmd.Long)}
	}
	return parse(string(text))
}

// parse reads the text of a file.
func parse(text string) Help {
	var h Help
	section := ""
	sections := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			section = strings.TrimSuffix(name, " --\n")
			continue
		}
		sections[section] += line
	}
	h.Examples = strings.TrimRight(sections["examples"], "\n")
	h.Details = strings.Trim(sections["details"], "\n")
	h.Topics = strings.Fields(sections["more"])
	for line := range strings.Lines(sections["flags"]) {
		title, names, _ := strings.Cut(line, ":")
		h.Flags = append(h.Flags, Group{title, strings.Fields(names)})
	}
	return h
}
