package lake

import (
	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
)

// A Pull holds the flags of pull.
type Pull struct {
	Agent string
	Since string
	JSON  bool
}

// NewPullCmd returns the pull command. run runs it; args are URL and TAPEs.
func NewPullCmd(run func(cmd *cobra.Command, p *Pull, args []string) error) *cobra.Command {
	var p Pull
	cmd := &cobra.Command{
		Use:   "pull [flags] URL [TAPE...]",
		Short: "Add tapes from a bucket of object storage to the store",
		Long: `Adds tapes that acptap push has brought to a bucket to the store, and prints the
id of each: all that the store does not have, or those of them that are named or
that --agent and --since select. With a tape come those of the servers that its
agent started. TAPE is an id, or a part of one that no other tape in the bucket
has.

A tape keeps its id. If what is in an object is not what its name says, or
cannot be read to its end, nothing of it is added, and the others are added all
the same. An object is not read on when it has unpacked to more than 4 GiB, or
to more than 64 MiB and 1,000 times its size.
` + addressHelp + `

A line of --json is an object with tape, the id, and object, its URL.

Exit status 0; 2 if a tape could not be added.`,
		Example: `  acptap pull s3://tapes/ci
  acptap pull s3://tapes/alice 7k2m9p
  acptap pull --agent claude --since 2d s3://tapes/ci`,
		Args: cli.Operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := urlFirst(cmd, args); err != nil {
				return err
			}
			return run(cmd, &p, args)
		},
	}
	cmd.Flags().StringVar(&p.Agent, "agent", "", "only those of the agent with this in its `name`, as the names of objects have it")
	cmd.Flags().StringVar(&p.Since, "since", "", "only those since this `time`: an age such as 2h or 7d, or a date such as 2026-01-31")
	cmd.Flags().BoolVar(&p.JSON, "json", false, "one JSON object a line")
	return cmd
}
