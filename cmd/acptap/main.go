// Command acptap records, replays and shows what a client and an agent say to
// each other: over the Agent Client Protocol (ACP), or over the Model Context
// Protocol (MCP).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/terminal"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/record/termtext"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if text := complaint(err); text != "" {
		warn(stderr, "%s", text)
	}
	return exitCode(err)
}

// warn tells of what went wrong, in one line for each thing. What came over the
// wire may stand in it.
func warn(stderr io.Writer, format string, args ...any) {
	text := termtext.Text(fmt.Sprintf(format, args...))
	for line := range strings.Lines(text) {
		fmt.Fprintf(stderr, "acptap: %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// errNo is the answer no, where there is nothing to say about it.
var errNo = errors.New("no")

// complaint returns what stderr is told of err. Of the agent's own end, of an
// answer and of a reader that has gone away there is nothing to tell.
func complaint(err error) string {
	var exit *proxy.ExitError
	if err == nil || errors.As(err, &exit) || errors.Is(err, errNo) || errors.Is(err, syscall.EPIPE) {
		return ""
	}
	return err.Error()
}

// exitCode returns the process status for err: 0 done, 1 the answer is no, 2
// usage or failure. The agent's own status is passed on; death by signal n is
// 128+n, as in a shell, and an agent that could not be started is 127 or 126.
func exitCode(err error) int {
	var exit *proxy.ExitError
	var start *proxy.StartError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return 0
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &start):
		return start.Code
	case errors.Is(err, errNo):
		return 1
	}
	return 2
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "acptap",
		Short: "Record, replay and inspect what an editor and an agent say to each other",
		Long: `acptap stands on stdio between a client and an agent of the Agent Client
Protocol, or between a client and a server of the Model Context Protocol, keeps
what they say, and shows it later.`,
		Example: `  acptap demo                         see it work
  acptap proxy -- my-agent --acp      put this where the agent's command stood
  acptap ls                           what was recorded
  acptap show last                    the frames of the latest tape
  acptap                              browse what was recorded, in a terminal`,
		Args:          subcommand,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	var dir string
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if !terminal.Is(os.Stdin) || !terminal.Is(cmd.OutOrStdout()) {
			return cmd.Help()
		}
		return browseStore(cmd.Context(), newInspector(), dir)
	}
	root.PersistentFlags().StringVar(&dir, "store", "", "`directory` of the store (default $ACPTAP_STORE, else "+defaultStoreText+")")
	root.AddCommand(
		newProxyCmd(&dir),
		newLsCmd(&dir),
		newSessionsCmd(&dir),
		newShowCmd(&dir),
		newSearchCmd(&dir),
		newInspectCmd(&dir),
		newDiffCmd(&dir),
		newReplayCmd(&dir),
		newExportCmd(&dir),
		newImportCmd(&dir),
		newRmCmd(&dir),
		newPruneCmd(&dir),
		newDoctorCmd(&dir),
		newDemoCmd(&dir),
		newDemoAgentCmd(),
		newVersionCmd(),
	)
	root.SetHelpCommand(newHelpCmd(root))
	root.SetVersionTemplate(versionText() + "\n")
	configureUsage(root)
	return root
}
