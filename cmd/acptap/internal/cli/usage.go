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

	"github.com/acptap/acptap/cmd/acptap/help/commands"
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

// Configure makes all commands below root report wrong usage and print help in the same
// way. helpOf returns the help of a command; it is called when the user asks for that
// command's help. If ending is not nil, the help of root ends with its result.
func Configure(root *cobra.Command, helpOf func(*cobra.Command) commands.Help, ending func() string) {
	root.SetFlagErrorFunc(flagError)
	root.InitDefaultCompletionCmd()
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		h := helpText(cmd, helpOf(cmd))
		if !cmd.HasParent() && ending != nil {
			h += ending()
		}
		io.WriteString(cmd.OutOrStdout(), h)
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := io.WriteString(cmd.OutOrStderr(), helpText(cmd, helpOf(cmd)))
		return err
	})
	for _, c := range append(root.Commands(), root) {
		c.SuggestionsMinimumDistance = 2
		if c.HasSubCommands() && !c.Runnable() {
			c.Args = Subcommand
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// helpText returns the help of a command, with what most users need first. It uses no
// template: templates would make the linker keep all methods of all types, which takes
// memory.
func helpText(cmd *cobra.Command, h commands.Help) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:", cmd.Short)
	if cmd.Runnable() {
		fmt.Fprintf(&b, "\n  %s", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n  %s COMMAND", cmd.CommandPath())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "\n  (or %s %s)", cmd.Parent().CommandPath(), strings.Join(cmd.Aliases, ", "))
	}
	if h.Examples != "" {
		fmt.Fprintf(&b, "\n\nExamples:\n%s", h.Examples)
	}
	if cmd.HasAvailableSubCommands() {
		others := "Commands"
		for _, g := range cmd.Groups() {
			writeCommands(&b, cmd, g.ID, g.Title)
			others = "Other"
		}
		writeCommands(&b, cmd, "", others)
	}
	for _, g := range FlagGroups(cmd, h) {
		fmt.Fprintf(&b, "\n\n%s:\n%s", g.Title, strings.TrimRight(g.Flags.FlagUsagesWrapped(80), " \n"))
	}
	if h.Details != "" {
		fmt.Fprintf(&b, "\n\nDetails:\n\n%s", h.Details)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n\n%s COMMAND --help says more about a command.", cmd.CommandPath())
	}
	if len(h.Topics) > 0 {
		fmt.Fprintf(&b, "\n\nMore in acptap help TOPIC: %s", strings.Join(h.Topics, ", "))
	}
	b.WriteByte('\n')
	return b.String()
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

// A FlagGroup is a list of flags below a title.
type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

// FlagGroups returns the flags of a command in the groups of its help. The last group holds
// rarely needed flags, including those that every command has.
func FlagGroups(cmd *cobra.Command, h commands.Help) (groups []FlagGroup) {
	const last = "Rarely needed"
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	left := visibleFlags(cmd)
	add := func(title string, names []string) {
		set := pflag.NewFlagSet(title, pflag.ContinueOnError)
		set.SortFlags = false
		for _, name := range names {
			if i := slices.IndexFunc(left, func(f *pflag.Flag) bool { return f.Name == name }); i >= 0 {
				set.AddFlag(left[i])
				left = slices.Delete(left, i, i+1)
			}
		}
		if set.HasFlags() {
			groups = append(groups, FlagGroup{title, set})
		}
	}
	var rare []string
	for _, g := range h.Flags {
		if g.Title == last {
			rare = g.Flags
			continue
		}
		add(g.Title, g.Flags)
	}
	for _, f := range left {
		if !slices.Contains(rare, f.Name) {
			rare = append(rare, f.Name)
		}
	}
	if len(groups) == 0 && len(h.Flags) == 0 {
		add("Flags", rare)
	}
	add(last, rare)
	return groups
}

// visibleFlags returns the flags of a command that are not hidden, its own first.
func visibleFlags(cmd *cobra.Command) (flags []*pflag.Flag) {
	for _, set := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
		set.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				flags = append(flags, f)
			}
		})
	}
	return flags
}
