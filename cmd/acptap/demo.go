package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/demo"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/settings"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

func newDemoCmd(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Run a scripted client and agent to see how acptap works",
		Args:  cli.Operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), *dir, cmd.OutOrStdout())
		},
	}
}

func runDemo(ctx context.Context, dir string, out io.Writer) error {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "acptap-demo-"); err != nil {
			return err
		}
	}
	store, err := ref.OpenStore(dir)
	if err != nil {
		return err
	}
	var form trace.Text
	var seen func(wire.Direction, []byte)
	if cli.IsTerminal(out) {
		form.Width, form.Color = cli.Columns(out), cli.TakesColor(out)
		seen = demo.NewProgress(out).Show
	}
	result, err := demo.Run(ctx, store, seen)
	if err != nil {
		return fmt.Errorf("demo: %v (store %s)", err, store.Dir()) // not wrapped: even after an interrupt the user should learn where the tapes are
	}
	if cli.IsTerminal(out) {
		fmt.Fprintln(out) // below the progress
	}
	if err := result.WriteText(out, store.Dir(), form); err != nil {
		return err
	}
	if err := writeDemoSummary(ctx, out, store.Dir()); err != nil {
		return err
	}
	return writeNext(out, store.Dir())
}

// writeDemoSummary writes the summary of the demo's session, across both tapes.
func writeDemoSummary(ctx context.Context, w io.Writer, dir string) error {
	sub, err := ref.Resolve(dir, demo.Session, nil)
	if err != nil {
		return err
	}
	s, broken, err := summaryOf(ctx, sub)
	if err := errors.Join(append(broken, err)...); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\nIn short, as acptap summary %s says it:\n\n", demo.Session); err != nil {
		return err
	}
	return writeSummary(w, s.Lines(cli.Columns(w)))
}

// writeNext lists what to do next. Its commands omit --store, because the first line
// exports the store's path to the shell.
func writeNext(w io.Writer, dir string) error {
	if _, err := fmt.Fprintf(w, "\nNext:\n\n  %s\n", exportLine(shellName(), dir)); err != nil {
		return err
	}
	t := &cli.Table{}
	t.Row("  "+cli.Typed()+" inspect", "browse both tapes in the terminal; ? lists the keys")
	t.Row("  "+cli.Typed()+" help editors", "in a new shell: put acptap before your own agent")
	return t.Write(w, 0) // never cut: users copy these commands
}

// shellName guesses the user's shell from the environment.
func shellName() string {
	if shell := os.Getenv("SHELL"); shell != "" || runtime.GOOS != "windows" {
		return filepath.Base(shell)
	}
	return "powershell"
}

// exportLine returns the shell command that sets the store for the shell and its children.
func exportLine(shell, dir string) string {
	switch shell {
	case "fish":
		return "set -x ACPTAP_STORE " + settings.ShellWords(dir)
	case "powershell", "pwsh":
		return "$env:ACPTAP_STORE = '" + strings.ReplaceAll(dir, "'", "''") + "'"
	}
	return "export ACPTAP_STORE=" + settings.ShellWords(dir)
}

func newDemoAgentCmd() *cobra.Command {
	var agent demo.Agent
	cmd := &cobra.Command{
		Use:    "demo-agent",
		Short:  "The agent of the demo",
		Hidden: true,
		Args:   cli.Operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return agent.Run(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&agent.Restarted, "again", false, "play the agent after its restart")
	cmd.Flags().BoolVar(&agent.Fast, "fast", false, "send without pauses")
	return cmd
}
