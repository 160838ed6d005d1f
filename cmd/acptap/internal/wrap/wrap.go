package wrap

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/settings"
	"github.com/acptap/acptap/record/termtext"
)

// Wrap returns the command that adds acptap to settings.
func (c Commands) Wrap() *cobra.Command {
	o := &flags{Commands: c}
	cmd := &cobra.Command{
		Use:   "wrap [flags] [CLIENT [ENTRY...]] [-- AGENT [ARG...]]",
		Short: "Put acptap before agents in the settings of their clients",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.reset = cmd.Flags().Changed("with")
			var agent []string
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				args, agent = args[:n], args[n:]
			}
			return o.wrap(cmd, args, agent)
		},
		ValidArgsFunction: completeEntries(c),
	}
	o.define(cmd)
	f := cmd.Flags()
	f.StringVar(&o.added, "new", "", "add an entry with this `name`, for the agent after --")
	f.StringVar(&o.with, "with", "", "`flags` for acptap proxy, such as '--sessions'")
	f.BoolVar(&o.status, "status", false, "list what is wrapped, and whether it can be started")
	return cmd
}

func (o *flags) wrap(cmd *cobra.Command, args, agent []string) error {
	s, err := o.setup()
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	switch {
	case o.status && len(args) > 0:
		return errors.New("--status is about all clients: acptap wrap --status")
	case o.status:
		return o.writeStatus(out, s)
	case (o.added != "") != (len(agent) > 0):
		return errors.New("a new entry takes a name and a command: acptap wrap CLIENT --new NAME -- AGENT ARG…")
	case len(args) == 0 && o.added != "":
		return errors.New("the client is missing: acptap wrap CLIENT --new NAME -- AGENT ARG…")
	case len(args) == 0 && (o.all || o.file != "" || o.project):
		return errors.New("the client is missing: acptap wrap CLIENT; acptap wrap lists them")
	case len(args) == 0:
		return o.writeClients(out, cmd.ErrOrStderr(), s, settings.Clients())
	}
	c, err := settings.Find(args[0])
	if err != nil {
		return err
	}
	s.Wrapper.Fresh = c.With
	names := args[1:]
	if c.IsFile() && len(names) == 0 && !o.all && o.added == "" {
		return o.writeClients(out, cmd.ErrOrStderr(), s, []*settings.Client{c})
	}
	if err := errors.Join(o.unfit, o.checkNames(names)); err != nil {
		return err
	}
	if !c.IsFile() {
		return o.writePaste(out, s, c, agent)
	}
	path, err := o.path(s, c)
	if err != nil {
		return err
	}
	return o.carryOut(out, s, func() (*settings.Change, error) {
		if o.added != "" {
			return s.Add(c, path, o.added, agent)
		}
		ch, err := s.Wrap(c, path, names, o.all)
		if err != nil {
			err = o.elsewhere(s, c, path, names, err)
		}
		return ch, err
	})
}

// checkNames returns an error if flags and names contradict each other.
func (o *flags) checkNames(names []string) error {
	switch {
	case o.all && len(names) > 0:
		return errors.New("--all and names of entries cannot be used together")
	case o.added != "" && (o.all || len(names) > 0):
		return errors.New("--new adds one entry; it takes no other ones, and no --all")
	}
	return nil
}

// path returns the settings file to use.
func (o *flags) path(s *settings.Setup, c *settings.Client) (string, error) {
	if o.file != "" {
		return filepath.Abs(o.file)
	}
	return s.FileFor(c, o.project || o.added != "" && len(c.User) == 0)
}

// elsewhere adds to the error about a missing entry where an entry with that name exists: in
// another file of the client, or among the same editor's MCP servers.
func (o *flags) elsewhere(s *settings.Setup, c *settings.Client, path string, names []string, err error) error {
	if o.file != "" || len(names) == 0 {
		return err
	}
	for _, other := range settings.Clients() {
		if other.Name != c.Name && other.Name != c.Name+"-mcp" {
			continue
		}
		for _, file := range s.Files(other) {
			entries, _ := s.Entries(other, file)
			there := slices.ContainsFunc(entries, func(e settings.Entry) bool { return e.Name == names[0] })
			if !there || other.Name == c.Name && file == path {
				continue
			}
			command := []string{other.Name, names[0]}
			if usual, _ := s.FileFor(other, false); file != usual {
				command = append(command, "--file", file)
			}
			return fmt.Errorf("%w; %s has it: acptap wrap %s", err, s.Machine.Short(file), settings.ShellWords(command...))
		}
	}
	return err
}

// carryOut makes the change that plan returns and reports it. With --dry-run it only prints
// it.
func (o *flags) carryOut(out io.Writer, s *settings.Setup, plan func() (*settings.Change, error)) error {
	do, tell := s.Do, o.writeDone
	if o.dry {
		do, tell = func(plan func() (*settings.Change, error)) (*settings.Change, error) { return plan() }, o.writePlan
	}
	ch, err := do(plan)
	if err != nil {
		return o.paste(out, err)
	}
	return tell(out, s, ch)
}

// paste returns err. If err has lines to paste by hand, it writes them first.
func (o *flags) paste(out io.Writer, err error) error {
	var instead *settings.PasteError
	if errors.As(err, &instead) && !o.asJSON {
		io.WriteString(out, termtext.Text(instead.Lines))
	}
	return err
}

// writePlan shows what a change would do.
func (o *flags) writePlan(out io.Writer, s *settings.Setup, ch *settings.Change) error {
	if o.asJSON {
		return cli.WriteJSONLines(out, ch.Steps, func(st settings.Step) any { return st })
	}
	diff := strings.ReplaceAll(ch.Diff(), "\r\n", "\n")
	if _, err := io.WriteString(out, termtext.Text(diff)); err != nil {
		return err
	}
	for _, st := range ch.Steps {
		if st.Did == settings.DidNothing || st.Did == settings.DidSkip {
			io.WriteString(out, stepText(s, st))
		}
	}
	return nil
}

// completeEntries completes the name of a client, then its entries.
func completeEntries(commands Commands) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) == 0 {
			for _, c := range settings.Clients() {
				words = append(words, cobra.CompletionWithDesc(c.Name, c.Title))
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		}
		o := &flags{Commands: commands}
		s, err := o.setup()
		c, ferr := settings.Find(args[0])
		if err != nil || ferr != nil || !c.IsFile() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, file := range s.Files(c) {
			entries, _ := s.Entries(c, file)
			for _, e := range entries {
				if (e.State == settings.Wrapped) == (cmd.Name() == "unwrap") {
					words = append(words, cobra.CompletionWithDesc(e.Name, strings.Join(e.Agent, " ")))
				}
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
