// Package commands contains the help of commands: embedded text files, one per command.
//
// NAME.txt holds the long text of acptap NAME (A-B.txt that of acptap A B), then a line
// "-- examples --" and the examples. A line "-- PART --" includes shared/PART.txt or, if
// there is none, what the program generates under that name.
package commands

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed *.txt shared
var files embed.FS

// examples is the line between a command's long text and its examples.
const examples = "-- examples --\n"

// Describe sets the long text and the examples of cmd from its file. Call it only when
// the user asks for help, so that other invocations do not pay for it. parts, which may
// be nil, returns the generated parts by name. A command without a file, such as cobra's
// own, stays unchanged.
func Describe(cmd *cobra.Command, parts func() map[string]string) {
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	text, err := files.ReadFile(strings.ReplaceAll(name, " ", "-") + ".txt")
	if err != nil {
		return
	}
	var made map[string]string
	if parts != nil {
		made = parts()
	}
	describe(cmd, expand(string(text), func(part string) (string, bool) {
		if shared, err := files.ReadFile("shared/" + part + ".txt"); err == nil {
			return string(shared), true
		}
		text, ok := made[part]
		return text, ok
	}))
}

// describe sets the long text and the examples of cmd from the text of a file.
func describe(cmd *cobra.Command, text string) {
	long, example, _ := strings.Cut(text, examples)
	cmd.Long, cmd.Example = strings.TrimRight(long, "\n"), strings.TrimRight(example, "\n")
}

// expand replaces the lines of text that name a part, including those inside parts. Lines
// that name no known part stay.
func expand(text string, part func(name string) (string, bool)) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if name, ok := partName(line); ok {
			if found, ok := part(name); ok {
				line = expand(found, part)
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// partName returns the name of the part that a line includes, if it does.
func partName(line string) (string, bool) {
	name, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(name, " --")
}
