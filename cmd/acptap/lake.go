package main

import (
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
)

// runLake runs acptap-lake with the arguments of this program in place of cmd. acptap-lake
// uses the stdin, stdout and stderr of cmd and sets its exit status; runLake passes on
// signals that ask it to end.
func runLake(cmd *cobra.Command, args []string) error {
	path, err := cli.Lake.Find()
	if err == nil {
		err = cli.Lake.Check(cmd.Context(), path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.Name(), err)
	}
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	return cli.RunInPlace(c)
}
