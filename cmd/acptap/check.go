package main

import (
	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/check"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
)

func newCheckCmd(dir *string) *cobra.Command {
	c := check.Flags{Version: cli.Version()}
	cmd := &cobra.Command{
		Use:   "check [flags] [REF...]",
		Short: "Report where client and agent break the specifications",
		Args:  cli.Operands(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.Validate(cmd.Flags(), args); err != nil {
				return err
			}
			failed, err := c.Run(cmd.Context(), *dir, args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			if err == nil && failed {
				return cli.ErrNo
			}
			return err
		},
	}
	c.Register(cmd.Flags())
	return cmd
}
