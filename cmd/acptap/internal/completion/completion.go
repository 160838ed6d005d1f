// Package completion completes the words of acptap's command line in a shell: tapes,
// sessions and names with descriptions, filters, values of flags, and recorded agents.
//
// The usage lines of commands and flags tell what each word is: REF in `show [flags]
// [REF]` is a reference, as in every other command. A command with its own
// ValidArgsFunction keeps it.
package completion

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/record"
)

// A Completer completes words from a store, which it rereads for each call. If the store
// cannot be read, it offers nothing from it.
type Completer struct {
	Store func() (*record.Store, error)
	Words []string // the words after the program's name, ending with the word at the cursor
}

// A source returns the completions of word, best first, and how the shell must treat
// them.
type source func(c *Completer, word string) ([]cobra.Completion, cobra.ShellCompDirective)

// operands maps names of operands in usage lines to their sources.
var operands = map[string]source{
	"REF":          references,
	"TAPE|SESSION": references,
	"QUERY":        queries,
	"FILE":         files,
	"FILE|DIR":     files,
	"AGENT":        agents,
	"TAG":          tags,
	"ARG":          files,
	"CASE":         words(cases),
	"DIR":          directories,
	"URL":          nothing,
	"TAPE":         nothing, // of a bucket
}

// Attach adds completion of operands and flags to root and all commands below it. It also
// strips the quotes around placeholders from the usage of flags, which is their
// description.
func (c *Completer) Attach(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		c.Attach(cmd)
	}
	root.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if from := ofFlag(f); from != nil {
			// A flag that already has a completion keeps it.
			_ = root.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return from(c, word)
			})
		}
		_, f.Usage = pflag.UnquoteUsage(f)
	})
	if root.ValidArgsFunction == nil && len(root.ValidArgs) == 0 {
		usage := usageOf(root.Use)
		root.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return c.operand(usage, len(args), word)
		}
	}
}

// operand completes the operand that follows n others.
func (c *Completer) operand(u usage, n int, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	list := u.operands
	if dash := slices.Index(c.Words, "--"); dash >= 0 && dash < len(c.Words)-1 {
		list, n = u.behindDash, len(c.Words)-2-dash
	}
	switch {
	case n < len(list):
	case len(list) > 0 && list[len(list)-1].repeats:
		n = len(list) - 1
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	from := operands[list[n].name]
	if from == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return from(c, word)
}

// A usage lists the operands in a command's usage line.
type usage struct {
	operands, behindDash []operand
}

type operand struct {
	name    string
	repeats bool
}

// usageOf parses a usage line, such as `client [flags] REF -- AGENT [ARG...]`. Operands
// after
// belong to another form of the command, and count only after the dash.
func usageOf(line string) (u usage) {
	list, other := &u.operands, false
	words := strings.Fields(line)
	for i, word := range words {
		bare := strings.Trim(word, "[]")
		if strings.HasPrefix(bare, "REF[:FRAME") {
			bare = "REF"
		}
		switch {
		case i == 0, bare == "flags":
		case bare == "--":
			list, other = &u.behindDash, false
		case bare == "|":
			other = true
		case strings.HasPrefix(bare, "-"), strings.HasPrefix(words[i-1], "-") && strings.Trim(words[i-1], "[]") != "--", other:
		default:
			name, repeats := strings.CutSuffix(bare, "...")
			*list = append(*list, operand{name, repeats})
		}
	}
	return u
}

// files leaves the word to the shell, which completes file names.
func files(*Completer, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// directories leaves the word to the shell, which completes directory names.
func directories(*Completer, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
