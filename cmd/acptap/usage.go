package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// operands returns a check that a command has been given from least to most
// arguments; any number if most is negative.
func operands(least, most int) cobra.PositionalArgs {
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

// subcommand is the check of a command that only holds others.
func subcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	advice := "see " + cmd.CommandPath() + " --help"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		advice = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q; %s", args[0], advice)
}

// newHelpCmd returns a help command that, unlike cobra's own, fails for a command
// that there is not.
func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if err := subcommand(cmd, rest); err != nil {
				return err
			}
			return cmd.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			cmd, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// apart returns an error if a flag is given together with one of the others.
func apart(flags *pflag.FlagSet, name string, others ...string) error {
	for _, other := range others {
		if flags.Changed(name) && flags.Changed(other) {
			return fmt.Errorf("--%s and --%s do not go together", name, other)
		}
	}
	return nil
}

// wrongFlag returns what is told of a flag that cannot be read.
func wrongFlag(cmd *cobra.Command, err error) error {
	text, _, _ := strings.Cut(err.Error(), ": strconv.") // Go's own words add nothing
	return fmt.Errorf("%s; see %s --help", text, cmd.CommandPath())
}

// explain sees to it that all commands below root tell mistakes in the same way.
func explain(root *cobra.Command) {
	root.SetFlagErrorFunc(wrongFlag)
	root.InitDefaultCompletionCmd()
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages |", "FlagUsagesWrapped 80 |"))
	for _, c := range append(root.Commands(), root) {
		c.SuggestionsMinimumDistance = 2
		if c.HasSubCommands() && !c.Runnable() {
			c.Args = subcommand
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}
