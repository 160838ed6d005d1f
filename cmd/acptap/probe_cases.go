package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy/syntax"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/probe"
	"github.com/acptap/acptap/replay/script"
)

// A caseOffer is a case in the output of probe list --json.
type caseOffer struct {
	ID     string      `json:"id" help:"such as load/unknown"`
	Title  string      `json:"title" help:"what has to hold"`
	Tier   script.Tier `json:"tier" help:"must, should, hurts or tell"`
	Needs  []string    `json:"needs,omitempty" help:"what the peer must offer, or the run must have"`
	Source string      `json:"source,omitempty" help:"URL of the text"`
	Same   string      `json:"same,omitempty" help:"the requirement of acp-tck that it covers"`
	Since  string      `json:"since,omitempty" help:"month, for --as-of"`
}

func newProbeListCmd() *cobra.Command {
	var p probeFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List the cases",
		Args:  cli.Operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := p.selectCases(p.kind())
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if asJSON {
				return cli.WriteJSONLines(w, all, func(c *probe.Case) any {
					return caseOffer{c.ID, c.Title, c.Tier, c.Needs, c.Source, c.Same, c.Since}
				})
			}
			t := &cli.Table{Color: cli.TakesColor(w)}
			t.Heading("CASE", "TIER", "NEEDS", "WHAT HAS TO HOLD")
			for _, c := range all {
				t.Row(c.ID, c.Tier.String(), strings.Join(c.Needs, " "), c.Title)
			}
			return t.Write(w, cli.Columns(w), 3)
		},
	}
	p.registerCases(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func newProbeShowCmd() *cobra.Command {
	var p probeFlags
	cmd := &cobra.Command{
		Use:   "show [flags] CASE",
		Short: "Print the file of a case",
		Args:  cli.Operands(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.only = args
			all, err := p.selectCases(p.kind())
			if err != nil {
				return err
			}
			for i, c := range all {
				text := termtext.Text(c.Text)
				if len(all) > 1 {
					text = fmt.Sprintf("== %s ==\n%s", c.ID, text)
				}
				if i > 0 {
					text = "\n" + text
				}
				if _, err := io.WriteString(cmd.OutOrStdout(), text); err != nil {
					return err
				}
			}
			return nil
		},
	}
	p.registerKind(cmd)
	cmd.Flags().StringVar(&p.cases, "cases", "", "also the cases in this `directory`")
	return cmd
}

func newProbeTestCmd() *cobra.Command {
	var p probeFlags
	cmd := &cobra.Command{
		Use:   "test [flags] DIR",
		Short: "Play your own cases to the scripted peers in their files",
		Args:  cli.Operands(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := readCases(args[0], p.kind())
			if err != nil {
				return err
			}
			if len(all) == 0 {
				return fmt.Errorf("%s has no cases: a case is a file that ends in .txt (acptap help probe)", args[0])
			}
			dir, err := os.MkdirTemp("", "acptap-tapes-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			r := &probe.Runner{Kind: p.kind(), Store: record.OpenStore(dir), EchoServer: hidden("echo")}
			return tryCases(cmd, args[0], r, all)
		},
	}
	p.registerKind(cmd)
	return cmd
}

// tryCases plays cases to their scripted peers, and writes a line for each peer.
func tryCases(cmd *cobra.Command, dir string, r *probe.Runner, all []*probe.Case) error {
	w := cmd.OutOrStdout()
	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	peers, wrong := 0, 0
	for _, c := range all {
		trials, err := probe.Try(ctx, r, c)
		for i := range trials {
			t := &trials[i]
			peers++
			sign, says := "✓", strings.TrimSuffix(t.Want.String()+": "+t.Got.Says(), ": ")
			if problem := t.Problem(); problem != "" {
				wrong++
				sign, says = "✗", problem
			}
			fmt.Fprintf(w, "%s %s, %s: %s\n", sign, termtext.Line(c.ID), termtext.Line(t.Example.Name), termtext.Line(says))
		}
		if err != nil {
			return caseError(dir, err)
		}
		if len(trials) == 0 {
			fmt.Fprintf(w, "? %s: no section good or bad has a scripted peer\n", termtext.Line(c.ID))
		}
	}
	fmt.Fprintf(w, "%s, %s, %d not as the name says\n", termtext.Counted(len(all), "case"), termtext.Counted(peers, "scripted peer"), wrong)
	if wrong > 0 {
		return cli.ErrNo
	}
	return nil
}

// readCases reads a directory of cases.
func readCases(dir string, k probe.Kind) ([]*probe.Case, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	all, err := probe.ReadCases(os.DirFS(dir), k)
	return all, caseError(dir, err)
}

// caseError adds the file and the line to an error in a case's file.
func caseError(dir string, err error) error {
	var wrong *syntax.Error
	if !errors.As(err, &wrong) {
		return err
	}
	wrong.File = filepath.Join(dir, wrong.File)
	return withCaret(err)
}
