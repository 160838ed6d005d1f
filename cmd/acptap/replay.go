package main

import "github.com/spf13/cobra"

func newReplayCmd(dir *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Let a tape play the agent or the client",
		Example: `  acptap replay agent last
  acptap replay client last -- my-agent --acp`,
	}
	cmd.AddCommand(newReplayAgentCmd(dir), newReplayClientCmd(dir))
	return cmd
}
