// Package completion completes what a user types behind acptap in a shell: tapes,
// sessions and names with what they are, filters, the words that flags take, and the
// agents that were recorded before.
//
// What stands at a place is told by the command's own usage line and by the usage of
// its flags: REF in `show [flags] [REF]` is a reference, and so is it in every other
// command. A command that has a ValidArgsFunction of its own keeps it.
package completion

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/record"
)

// A Completer knows what may stand at a place. Its functions read the store anew at
// each call; a store that cannot be read has nothing to offer.
type Completer struct {
	Store func() (*record.Store, error)
	Words []string // what was typed behind the program's name, the word at the cursor last
}

// A source returns what may stand in the place of word, the best first, and how the
// shell is to treat it.
type source func(c *Completer, word string) ([]cobra.Completion, cobra.ShellCompDirective)

// operands are the sources for the names of operands in usage lines.
var operands = map[string]source{
	"REF":          references,
	"TAPE|SESSION": references,
	"QUERY":        queries,
	"FILE":         files,
	"FILE|DIR":     files,
	"AGENT":        agents,
	"TAG":          tags,
	"ARG":          files,
	"URL":          nothing,
	"TAPE":         nothing, // of a bucket
}

// Attach gives root and all commands below it what completes their operands and
// flags. The usage of a flag is its description then, without the quotes that mark its
// placeholder for the help.
func (c *Completer) Attach(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		c.Attach(cmd)
	}
	root.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if from := ofFlag(f); from != nil {
			// A flag that has a completion of its own keeps it.
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

// operand completes the operand behind n others.
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

// A usage is what a command's usage line says of its operands.
type usage struct {
	operands, behindDash []operand
}

type operand struct {
	name    string
	repeats bool
}

// usageOf reads a usage line, such as `client [flags] REF -- AGENT [ARG...]`. What
// stands behind | is another form of the command, and adds nothing before the dash.
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

// files leaves the word to the shell, which completes the names of files.
func files(*Completer, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// directories leaves the word to the shell, which completes the names of
// directories.
func directories(*Completer, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
