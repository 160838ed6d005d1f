package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/config"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
)

func newConfigCmd(dir *string) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "config [flags] [COMMAND...]",
		Short: "Show which default flags hold, and where they are set",
		RunE: func(cmd *cobra.Command, args []string) error {
			commands, err := configured(cmd.Root(), args)
			if err != nil {
				return err
			}
			lines, err := configLines(cmd.Root(), commands, *dir)
			if err != nil {
				return err
			}
			if !all && len(args) == 0 {
				lines = slices.DeleteFunc(lines, func(l configLine) bool { return l.From == fromFlag })
			}
			if asJSON {
				return cli.WriteJSONLines(cmd.OutOrStdout(), lines, func(l configLine) any { return l })
			}
			return writeConfig(cmd, lines, *dir)
		},
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		within, rest, err := cmd.Root().Find(args)
		if err == nil && len(rest) == 0 {
			for _, c := range within.Commands() {
				if slices.Contains(config.Commands(cmd.Root()), c) {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.Flags().BoolVar(&all, "all", false, "also the flags that nothing sets")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	cmd.AddCommand(&cobra.Command{
		Use:   "path",
		Short: "Print the path of the file with default flags",
		Args:  cli.Operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := ref.ConfigPath(*dir)
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return err
		},
	})
	return cmd
}

// fromFlag is the source of a value that nothing sets.
const fromFlag = "default"

// A configLine is a flag in the output of --json.
type configLine struct {
	Command string `json:"command" help:"such as sessions check-load"`
	Flag    string `json:"flag" help:"without its dashes"`
	Value   string `json:"value" help:"what holds if the flag is not given"`
	From    string `json:"from" help:"default, the name of an environment variable, or FILE:LINE"`
}

// configured returns the commands named by args, or all commands.
func configured(root *cobra.Command, args []string) ([]*cobra.Command, error) {
	if len(args) == 0 {
		return config.Commands(root), nil
	}
	cmd, rest, err := root.Find(args)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 || !slices.Contains(config.Commands(root), cmd) {
		return nil, fmt.Errorf("%q is no command with flags; acptap --help lists the commands", strings.Join(args, " "))
	}
	return []*cobra.Command{cmd}, nil
}

// configLines returns the effective values of the commands' flags.
func configLines(root *cobra.Command, commands []*cobra.Command, dir string) (lines []configLine, err error) {
	file, err := config.Of(dir)
	if err != nil {
		return nil, err
	}
	if err := file.Check(root); err != nil {
		return nil, err
	}
	for _, cmd := range commands {
		if err := file.Apply(cmd); err != nil {
			return nil, err
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			l := configLine{strings.TrimPrefix(cmd.CommandPath(), root.Name()+" "), f.Name, config.Text(f), fromFlag}
			if name := config.VariableOf(f.Name); name != "" {
				l.Value, l.From = "", "$"+name
			} else if at := config.From(f); at != "" {
				l.From = at
			}
			lines = append(lines, l)
		})
	}
	return lines, nil
}

// writeConfig writes a line for each flag.
func writeConfig(cmd *cobra.Command, lines []configLine, dir string) error {
	path, err := ref.ConfigPath(dir)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "No default flags: %s sets none. To see all flags: acptap config --all\n", path)
		return err
	}
	t := &cli.Table{}
	t.Heading("COMMAND", "FLAG", "VALUE", "FROM")
	for _, l := range lines {
		t.Row(l.Command, "--"+l.Flag, l.Value, l.From)
	}
	return t.Write(cmd.OutOrStdout(), cli.Columns(cmd.OutOrStdout()), 2)
}
