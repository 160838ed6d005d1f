package main

import "github.com/spf13/cobra"

func newReplayCmd(dir *string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Play the agent or the client of a tape",
		Long: `Plays one side of a tape: the agent, to a client; or the client, to an agent.
See acptap help testing.`,
		Example: `  acptap replay agent last
  acptap replay client last -- my-agent --acp`,
	}
	cmd.AddCommand(newReplayAgentCmd(dir), newReplayClientCmd(dir))
	return cmd
}
