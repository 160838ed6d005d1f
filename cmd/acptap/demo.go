package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/demo"
	"github.com/acptap/acptap/cmd/acptap/internal/terminal"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

func newDemoCmd(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See it work, with a scripted client and agent",
		Long: `Runs a scripted client, the proxy and a scripted agent as processes of their
own, and shows the conversation that the proxy has recorded. Starts proxy and
agent again, and has the client load the session, which the agent has forgotten.
Plays the agent from the tape to the client once more, and says how to look
further. Nothing is needed for it: no agent, no network, no files.

What is recorded goes to a new directory that stays, or to the one of --store.

Exit status 0; 2 if it did not go as in the script, or was interrupted.`,
		Example: `  acptap demo
  acptap demo --store /tmp/tapes`,
		Args: operands(0, 0),
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
	store, err := openStore(dir)
	if err != nil {
		return err
	}
	var form trace.Text
	seen := func(wire.Direction, []byte) {}
	if terminal.Is(out) {
		form.Width, form.Color = terminal.Columns(out), terminal.TakesColor(out)
		seen = demo.NewProgress(out).Show
	}
	result, err := demo.Run(ctx, store, seen)
	if err != nil {
		return fmt.Errorf("demo: %w (store %s)", err, store.Dir())
	}
	if terminal.Is(out) {
		fmt.Fprintln(out) // below the progress
	}
	if err := result.WriteText(out, store.Dir(), form); err != nil {
		return err
	}
	return writeNext(out, store.Dir())
}

// writeNext says what to do with the tape.
func writeNext(w io.Writer, dir string) error {
	if _, err := fmt.Fprint(w, "\nGo on with\n\n"); err != nil {
		return err
	}
	t := &terminal.Table{}
	for _, next := range [][2]string{
		{"ls", "the tapes of the store"},
		{"sessions", "the sessions on them"},
		{"show last~1", "the frames of the first tape"},
		{"show last", "those of the second: +, ~ and × mark what acptap made, changed and held back"},
		{"show --chat " + demo.Session, "the conversation on both, as above"},
		{"replay agent last~1", "the agent from the first tape, on stdin and stdout"},
		{"diff last last", "two tapes compared; of one with itself nothing differs"},
		{"export last", "the tape as JSON Lines, for git, jq and bug reports"},
	} {
		t.Row("  acptap "+next[0]+" --store "+shellWord(dir), next[1])
	}
	return t.Write(w, 0) // commands are to be copied whole
}

// shellWord returns s as a shell takes it for one word.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:"+string(filepath.Separator), r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func newDemoAgentCmd() *cobra.Command {
	var agent demo.Agent
	cmd := &cobra.Command{
		Use:   "demo-agent",
		Short: "The agent of the demo",
		Long: `Speaks the agent's part of the demo on stdio, word for word the same each time.
It takes the client's messages in the order of the script only, whatever is in
them beside method, session and choice.

Exit status 0 if the client has said its part; 2 if it has not.`,
		Example: "  acptap proxy -- acptap demo-agent",
		Hidden:  true,
		Args:    operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return agent.Run(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&agent.Restarted, "again", false, "speak as when it is started again")
	cmd.Flags().BoolVar(&agent.Fast, "fast", false, "speak without pauses")
	return cmd
}
