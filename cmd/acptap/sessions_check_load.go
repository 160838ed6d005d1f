package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/compare"
)

func newCheckLoadCmd(dir *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check-load REF",
		Short: "Compare what an agent sent at session/load with what was recorded",
		Args:  cli.Operands(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			sub, err := ref.Resolve(*dir, args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			reloads, err := reloads(sub)
			if err != nil {
				return err
			}
			return writeReloads(cmd.OutOrStdout(), cmd.ErrOrStderr(), reloads, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line, for each load")
	return cmd
}

// reloads returns the session loads that the agent served on the tapes of a subject.
func reloads(sub ref.Subject) ([]compare.LoadCheck, error) {
	var all []compare.LoadCheck
	if sub.Session != "" {
		var tapes []*record.Tape
		for _, p := range sub.Parts {
			tapes = append(tapes, p.Tape)
			found, err := compare.CheckLoads(tapes, sub.Session)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	}
	tape := sub.Parts[0].Tape
	sessions, err := tape.Sessions()
	if err != nil {
		return nil, err
	}
	for _, one := range sessions {
		tapes, err := tape.Until(one)
		if err != nil {
			return nil, err
		}
		found, err := compare.CheckLoads(tapes, one.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func writeReloads(w, stderr io.Writer, reloads []compare.LoadCheck, asJSON bool) error {
	if len(reloads) == 0 {
		cli.Warn(stderr, "the agent served no session/load itself")
		return cli.ErrNo
	}
	lost := false
	for _, r := range reloads {
		lost = lost || len(r.Losses) > 0
		if asJSON {
			if err := cli.WriteJSON(w, r); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(w, "%s frame %d: %s of %s: %s in %s\n", r.Tape, r.Request, r.Method, termtext.Line(r.Session), termtext.Counted(len(r.Losses), "difference"), termtext.Counted(r.Live, "item")); err != nil {
			return err
		}
		for _, l := range r.Losses {
			if _, err := fmt.Fprintf(w, "  %s\n", termtext.Line(fmt.Sprint(l))); err != nil {
				return err
			}
		}
	}
	if lost {
		return cli.ErrNo
	}
	return nil
}
