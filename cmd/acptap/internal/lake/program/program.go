// Package program is acptap-lake without its main function. acptap does not link it.
package program

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/help/commands"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
)

// Run runs the program and returns its exit status: 0 done, 2 wrong usage or failure.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(ctx, newRootCmd(), args, stdin, stdout, stderr)
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:               string(cli.Lake),
		Short:             "The part of acptap for object storage and tables",
		Args:              cli.Subcommand,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var dir string
	ref.StoreFlag(root.PersistentFlags(), &dir)
	root.AddCommand(newExportCmd(&dir), newPushCmd(&dir), newPullCmd(&dir))
	cli.Lake.AddVersion(root)
	cli.Configure(root, helpOf, nil)
	return root
}

// helpOf returns the help of every command except export: the text of acptap export covers
// more than this program does.
func helpOf(cmd *cobra.Command) commands.Help {
	if cmd.Name() == "export" {
		return commands.Help{}
	}
	return commands.Of(cmd)
}
