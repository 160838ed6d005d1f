package lake

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
)

// A Push holds the flags of push.
type Push struct {
	Which tapelist.Subjects
	Raw   bool
	JSON  bool
}

// NewPushCmd returns the push command. run runs it; args are URL and REFs.
func NewPushCmd(run func(cmd *cobra.Command, p *Push, args []string) error) *cobra.Command {
	var p Push
	cmd := &cobra.Command{
		Use:   "push [flags] URL [REF...]",
		Short: "Bring tapes to a bucket of object storage",
		Args:  cli.Operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := urlFirst(cmd, args); err != nil {
				return err
			}
			if err := p.Which.Check(args[1:]); err != nil {
				return err
			}
			return run(cmd, &p, args)
		},
	}
	p.Which.Register(cmd.Flags())
	cmd.Flags().BoolVar(&p.Raw, "raw", false, "keep secrets; the URL must have ?raw=1")
	cmd.Flags().BoolVar(&p.JSON, "json", false, "one JSON object a line")
	return cmd
}

// urlFirst returns an error if the URL comes after a tape. It does not quote the URL, which
// may contain a password.
func urlFirst(cmd *cobra.Command, args []string) error {
	if strings.Contains(args[0], "://") {
		return nil
	}
	for _, arg := range args[1:] {
		if strings.Contains(arg, "://") {
			return errors.New("the URL comes first: " + cmd.UseLine())
		}
	}
	return nil
}

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
		Args:  cli.Operands(1, -1),
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
