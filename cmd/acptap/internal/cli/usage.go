// Package cli holds what the commands of all programs share: checks of arguments, usage
// errors, warnings on stderr, tables and progress for terminals, JSON lines for programs,
// and the paths of the programs themselves. It escapes foreign text so that it cannot
// control a terminal.
package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Operands returns a check that a command has from least to most arguments, with no upper
// limit if most is negative.
func Operands(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("an argument is missing; usage: %s", cmd.UseLine())
		case most >= 0 && len(args) > most:
			return fmt.Errorf("%q is one argument too many; usage: %s", args[most], cmd.UseLine())
		}
		return nil
	}
}

// Subcommand checks the arguments of a command that only has subcommands.
func Subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	advice := "see " + cmd.CommandPath() + " --help"
	if near := Suggestions(cmd, args[0]); len(near) > 0 {
		advice = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q; %s", args[0], advice)
}

// Suggestions returns the commands below cmd whose names resemble word. Unlike cobra's,
// which omit unlisted commands, they include help.
func Suggestions(cmd *cobra.Command, word string) []string {
	near := cmd.SuggestionsFor(word)
	if !cmd.HasParent() {
		help := &cobra.Command{SuggestionsMinimumDistance: cmd.SuggestionsMinimumDistance}
		help.AddCommand(&cobra.Command{Use: "help", Run: func(*cobra.Command, []string) {}})
		near = append(near, help.SuggestionsFor(word)...)
	}
	return near
}

// Exclusive returns an error if a flag is given together with one of the others.
func Exclusive(flags *pflag.FlagSet, name string, others ...string) error {
	if other := Given(flags, others...); other != "" && flags.Changed(name) {
		return fmt.Errorf("--%s and --%s cannot be used together", name, other)
	}
	return nil
}

// Given returns the first of the named flags that was given, or "".
func Given(flags *pflag.FlagSet, names ...string) string {
	for _, name := range names {
		if flags.Changed(name) {
			return name
		}
	}
	return ""
}

// OneOf returns an error unless the value of a flag is one of choices.
func OneOf(flag, value string, choices ...string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	last := len(choices) - 1
	return fmt.Errorf("--%s is %s or %s, not %q", flag, strings.Join(choices[:last], ", "), choices[last], value)
}

// flagError rewords the error for a flag that cannot be parsed.
func flagError(cmd *cobra.Command, err error) error {
	text, _, _ := strings.Cut(err.Error(), ": strconv.") // the wording of package strconv adds nothing
	return fmt.Errorf("%s; see %s --help", text, cmd.CommandPath())
}

// Configure makes all commands below root report wrong usage in the same way. describe
// sets the long text and the examples of a command; it is called when the user asks for
// that command's help. If ending is not nil, the help of root ends with its result.
func Configure(root *cobra.Command, describe func(*cobra.Command), ending func() string) {
	root.SetFlagErrorFunc(flagError)
	root.InitDefaultCompletionCmd()
	commandHelp := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		describe(cmd)
		commandHelp(cmd, args)
		if !cmd.HasParent() && ending != nil {
			io.WriteString(cmd.OutOrStdout(), ending())
		}
	})
	root.SetUsageFunc(writeUsage)
	for _, c := range append(root.Commands(), root) {
		c.SuggestionsMinimumDistance = 2
		if c.HasSubCommands() && !c.Runnable() {
			c.Args = Subcommand
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// writeCommands writes a line about each command below cmd that belongs to a group.
func writeCommands(b *strings.Builder, cmd *cobra.Command, group, title string) {
	fmt.Fprintf(b, "\n\n%s:", title)
	for _, sub := range cmd.Commands() {
		if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") {
			fmt.Fprintf(b, "\n  %-*s %s", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
}

// writeUsage writes cobra's usage with flags wrapped to 80 columns. A template could do the
// same, but a program that uses templates keeps all methods of all types and needs more
// memory.
func writeUsage(cmd *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "\n  %s", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n  %s [command]", cmd.CommandPath())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "\n\nAliases:\n  %s", cmd.NameAndAliases())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\n\nExamples:\n%s", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		others := "Available Commands"
		for _, g := range cmd.Groups() {
			writeCommands(&b, cmd, g.ID, g.Title)
			others = "Other"
		}
		writeCommands(&b, cmd, "", others)
	}
	for _, flags := range []struct {
		title string
		set   *pflag.FlagSet
	}{{"Flags", cmd.LocalFlags()}, {"Global Flags", cmd.InheritedFlags()}} {
		if flags.set.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n\n%s:\n%s", flags.title, strings.TrimRight(flags.set.FlagUsagesWrapped(80), " \n"))
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\nUse \"%s [command] --help\" for more information about a command.", cmd.CommandPath())
	}
	_, err := fmt.Fprintln(cmd.OutOrStderr(), b.String())
	return err
}
