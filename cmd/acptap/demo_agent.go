package main

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/proxy/wire"
)

func newDemoAgentCmd() *cobra.Command {
	p := demoPlayer{me: wire.AgentToClient, seen: func(wire.Direction, []byte) {}}
	var again bool
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
			p.in, p.out, p.err = bufio.NewReader(cmd.InOrStdin()), cmd.OutOrStdout(), cmd.ErrOrStderr()
			script := demoScript()
			if again {
				_, script = demoReload()
			}
			if err := p.play(script); err != nil {
				return err
			}
			return p.rest()
		},
	}
	cmd.Flags().BoolVar(&again, "again", false, "speak as when it is started again")
	cmd.Flags().BoolVar(&p.fast, "fast", false, "speak without pauses")
	return cmd
}
