// Package program is the program acptap-lake without its process. acptap does not link it.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/lake"
)

// Run runs the program and returns its exit status: 0 done, 2 wrong usage or failure.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch err := root.ExecuteContext(ctx); {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return 0
	case errors.Is(err, context.Canceled):
		cli.Warn(stderr, "interrupted")
	default:
		cli.Warn(stderr, "%v", err)
	}
	return 2
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   lake.Program,
		Short: "The part of acptap for object storage and tables",
		Long: `acptap starts this program for what talks to object storage or writes tables. The
flags of its commands are those of acptap.`,
		Args:              cli.Subcommand,
		Version:           cli.Version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var dir string
	lake.StoreFlag(root, &dir)
	root.AddCommand(newExportCmd(&dir), newPushCmd(&dir), newPullCmd(&dir))
	root.SetVersionTemplate(fmt.Sprintf("%s %s %s %s/%s\n", lake.Program, cli.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH))
	cli.Configure(root, func() string { return "" })
	return root
}
