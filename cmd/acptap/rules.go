package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tap"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/record/termtext"
)

func newRulesCmd(dir *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List faults, and check rules that change the traffic",
		Args:  cli.Subcommand,
	}
	cmd.AddCommand(newRulesListCmd(), newRulesShowCmd(), newRulesCheckCmd(dir))
	return cmd
}

// A faultLine is a fault in the output of acptap rules list --json.
type faultLine struct {
	Name       string            `json:"name" help:"for --fault"`
	Protocol   string            `json:"protocol" help:"acp, mcp or both"`
	Reveals    string            `json:"reveals" help:"what it does and shows"`
	Parameters map[string]string `json:"parameters,omitempty" help:"by name, their defaults"`
}

func newRulesListCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List the faults",
		Args:  cli.Operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if asJSON {
				return cli.WriteJSONLines(out, rule.Faults(), func(f rule.Fault) any {
					line := faultLine{Name: f.Name, Protocol: f.Protocol, Reveals: f.Reveals, Parameters: map[string]string{}}
					for _, p := range f.Parameters {
						line.Parameters[p.Name] = p.Default
					}
					return line
				})
			}
			t := &cli.Table{}
			t.Heading("FAULT", "PROTOCOL", "WITH", "WHAT IT DOES AND SHOWS")
			for _, f := range rule.Faults() {
				var with []string
				for _, p := range f.Parameters {
					with = append(with, p.Name+"="+p.Default)
				}
				t.Row(f.Name, f.Protocol, strings.Join(with, " "), f.Reveals)
			}
			return t.Write(out, cli.Columns(out), 3)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func newRulesShowCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME[,KEY=VALUE...]",
		Short: "Print the rules of a fault",
		Args:  cli.Operands(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			words := strings.Split(args[0], ",")
			f, ok := rule.LookupFault(words[0])
			if !ok {
				return new(rule.Set).AddFault(args[0])
			}
			text, err := f.Rules(words[1:]...)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "# %s\n%s", f.Reveals, text)
			return err
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, f := range rule.Faults() {
				names = append(names, f.Name+"\t"+f.Reveals)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// A ruleLine is a rule in the output of acptap rules check --json.
type ruleLine struct {
	Name     string    `json:"name" help:"as on the tape"`
	Where    string    `json:"where" help:"file and line"`
	Rule     string    `json:"rule" help:"filter, action and options"`
	Warnings []string  `json:"warnings,omitempty" help:"what may not be expected"`
	Hits     *int      `json:"hits,omitempty" help:"how many frames of the tape it hits; only with REF"`
	First    []hitLine `json:"first,omitempty" help:"the first of them: seq, did, and sent (direction and line)"`
}

type hitLine struct {
	Seq  uint64   `json:"seq"`
	Did  string   `json:"did"`
	Sent []string `json:"sent,omitempty"`
}

func newRulesCheckCmd(dir *string) *cobra.Command {
	var flags tap.RuleFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [flags] [FILE.rules...] [REF]",
		Short: "Check rules, and try them on a tape",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			for _, arg := range args {
				switch {
				case strings.HasSuffix(arg, ".rules"):
					flags.Files = append(flags.Files, arg)
				case name != "":
					return fmt.Errorf("want one REF, got %q and %q; a file of rules ends in .rules, or goes with --rules", name, arg)
				default:
					name = arg
				}
			}
			rules, err := readRules(&flags, cmd.Flags())
			if err != nil {
				return err
			}
			if rules.set == nil {
				return errors.New("which rules? FILE.rules, --rules, --rule or --fault say so")
			}
			if name == "" {
				return writeRules(cmd.OutOrStdout(), rules.set, nil, asJSON)
			}
			sub, err := ref.Resolve(*dir, name, cmd.InOrStdin())
			if err != nil {
				return err
			}
			if len(sub.Tapes()) != 1 {
				return fmt.Errorf("%s is on %d tapes; name the tape", name, len(sub.Tapes()))
			}
			trial := rules.set.Try(rules.seed)
			for f, err := range sub.Tapes()[0].Frames(1) {
				if err != nil {
					return err
				}
				trial.Observe(&f.Frame)
			}
			if err := writeRules(cmd.OutOrStdout(), rules.set, trial, asJSON); err != nil {
				return err
			}
			for _, h := range trial.Hits() {
				if h.Count == 0 && !h.Rule.Optional() {
					return cli.ErrNo
				}
			}
			return nil
		},
	}
	flags.Flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// writeRules describes the rules. trial is nil if they were not tried on a tape.
func writeRules(w io.Writer, set *rule.Set, trial *rule.Trial, asJSON bool) error {
	warnings := map[*rule.Rule][]string{}
	for _, one := range set.Warnings() {
		warnings[one.Rule] = append(warnings[one.Rule], one.Text)
	}
	var lines []ruleLine
	for i, r := range set.Rules() {
		line := ruleLine{Name: r.Name, Where: r.Where, Rule: r.String(), Warnings: warnings[r]}
		if trial != nil {
			h := trial.Hits()[i]
			line.Hits = &h.Count
			for _, one := range h.First {
				line.First = append(line.First, hitLine(*one))
			}
		}
		lines = append(lines, line)
	}
	if asJSON {
		return cli.WriteJSONLines(w, lines, func(l ruleLine) any { return l })
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "@%s %s\n", l.Name, l.Rule)
		for _, text := range l.Warnings {
			fmt.Fprintf(&b, "    warning: it %s\n", text)
		}
		if l.Hits == nil {
			continue
		}
		fmt.Fprintf(&b, "    %s\n", termtext.Counted(*l.Hits, "hit"))
		for _, h := range l.First {
			fmt.Fprintf(&b, "    %6d  %s\n", h.Seq, h.Did)
			for _, text := range h.Sent {
				fmt.Fprintf(&b, "            %s\n", text)
			}
		}
		if more := *l.Hits - len(l.First); more > 0 {
			fmt.Fprintf(&b, "            and %d more\n", more)
		}
	}
	if trial != nil && trial.Large > 0 {
		fmt.Fprintf(&b, "%s over 16 MiB, which no rule sees, such as %d\n", termtext.Counted(trial.Large, "frame"), trial.Unseen[0])
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, termtext.Line(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}
