// Command acptap records, shows and replays what a client and an agent say to each
// other over the Agent Client Protocol (ACP), or a client and a server over the
// Model Context Protocol (MCP).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/help/commands"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/completion"
	"github.com/acptap/acptap/cmd/acptap/internal/config"
	"github.com/acptap/acptap/cmd/acptap/internal/lake"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/wrap"
	"github.com/acptap/acptap/record"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run runs the program and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(ctx, newRootCmd(args), args, stdin, stdout, stderr)
}

// newRootCmd returns the root command with all its subcommands. If the arguments run a
// proxy, it adds only the proxy: the client waits for the agent to start, so a proxy must
// not spend time building other commands (BenchmarkStart).
func newRootCmd(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "acptap",
		Short: "Record, replay and inspect what an editor and an agent say to each other",
		Args:  cli.Subcommand,
	}
	var dir string
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cli.IsTerminal(os.Stdin) || !cli.IsTerminal(cmd.OutOrStdout()) {
			return cmd.Help()
		}
		inspect, _, err := root.Find([]string{"inspect"})
		if err != nil {
			return err
		}
		inspect.SetContext(cmd.Context())
		if err := inspect.ValidateArgs(nil); err != nil {
			return err
		}
		return inspect.RunE(inspect, nil)
	}
	ref.StoreFlag(root.PersistentFlags(), &dir)
	proxy := newProxyCmd(&dir)
	if runsProxy(args) {
		root.AddCommand(proxy)
		root.CompletionOptions.DisableDefaultCmd = true
		config.Attach(root, &dir, scratchProxy)
		cli.Configure(root, commands.Of, topicList)
		return root
	}
	addGroup(root, "Record", proxy, wrap.Commands{Store: &dir}.Wrap(), wrap.Commands{Store: &dir}.Unwrap(), newWatchCmd(&dir))
	addGroup(root, "Look",
		newLsCmd(&dir), newSessionsCmd(&dir), newSummaryCmd(&dir), newStatsCmd(&dir), newShowCmd(&dir),
		newSearchCmd(&dir), newInspectCmd(&dir), newReportCmd(&dir))
	addGroup(root, "Judge", newCheckCmd(&dir), newProbeCmd(&dir), newDiffCmd(&dir), newMatrixCmd(&dir))
	addGroup(root, "Test", newReplayCmd(&dir), newRulesCmd(&dir), newCtlCmd(&dir))
	addGroup(root, "Share",
		newExportCmd(&dir, func(cmd *cobra.Command) error { return runLake(cmd, args) }),
		newImportCmd(&dir),
		newShipCmd(&dir),
		lake.NewPushCmd(func(cmd *cobra.Command, _ *lake.Push, _ []string) error { return runLake(cmd, args) }),
		lake.NewPullCmd(func(cmd *cobra.Command, _ *lake.Pull, _ []string) error { return runLake(cmd, args) }))
	addGroup(root, "Keep", newTagCmd(&dir), newNoteCmd(&dir), newRmCmd(&dir), newPruneCmd(&dir), newDoctorCmd(&dir))
	root.AddCommand(newDemoCmd(&dir), newDemoAgentCmd(), newConfigCmd(&dir), newVersionCmd())
	root.SetHelpCommand(newHelpCmd(root))
	cli.Configure(root, commands.Of, topicList)
	config.Attach(root, &dir, scratchProxy)
	cli.Acptap.AddVersion(root)
	if completes(args) {
		c := completion.Completer{Words: args[1:], Store: func() (*record.Store, error) { return ref.OpenStore(dir) }}
		c.Attach(root)
	}
	return root
}

// scratchProxy returns an acptap proxy that will not run.
func scratchProxy() *cobra.Command { return newProxyCmd(new(string)) }

// withConfig adds to the arguments of a command the flags that the configuration file set.
func withConfig(cmd *cobra.Command, args []string) []string {
	var set []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if config.From(f) != "" {
			set = append(set, "--"+f.Name+"="+config.Text(f))
		}
	})
	if i := slices.Index(args, "--"); i >= 0 {
		return slices.Insert(slices.Clone(args), i, set...)
	}
	return append(args[:len(args):len(args)], set...)
}

// addGroup adds commands that the help of root lists together.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// completes reports whether a shell is asking for completions.
func completes(args []string) bool {
	return len(args) > 1 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// runsProxy reports whether the arguments run a proxy, possibly after --store.
func runsProxy(args []string) bool {
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return false
	}
	switch {
	case len(args) > 2 && args[0] == "--store":
		args = args[2:]
	case len(args) > 1 && strings.HasPrefix(args[0], "--store="):
		args = args[1:]
	}
	return len(args) > 0 && slices.Contains(cli.ProxyNames, args[0])
}

// runLake runs acptap-lake with this program's arguments in place of cmd. acptap-lake
// uses the stdin, stdout and stderr of cmd and sets its exit status; runLake forwards
// termination signals.
func runLake(cmd *cobra.Command, args []string) error {
	path, err := cli.Lake.Find()
	if err == nil {
		err = cli.Lake.Check(cmd.Context(), path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.Name(), err)
	}
	c := exec.Command(path, withConfig(cmd, args)...)
	c.Stdin, c.Stdout, c.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	return cli.RunInPlace(c)
}
