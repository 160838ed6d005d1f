package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/record"
)

func newPruneCmd(dir *string) *cobra.Command {
	var del deletions
	var yes bool
	var age string
	cmd := &cobra.Command{
		Use:   "prune [flags] --older-than AGE",
		Short: "Delete old tapes",
		Args:  cli.Operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if age == "" {
				return errors.New("--older-than AGE is missing, such as --older-than 30d")
			}
			limit, err := tapelist.ParseAge(age)
			if err != nil {
				return fmt.Errorf("--older-than: %w", err)
			}
			asks := !del.dry && !yes
			if asks && !(cli.IsTerminal(cmd.InOrStdin()) && cli.IsTerminal(cmd.ErrOrStderr())) {
				return errors.New("there is no terminal to ask on: --yes deletes without asking, --dry-run only lists")
			}
			store, err := ref.OpenStore(*dir)
			if err != nil {
				return err
			}
			if !del.dry {
				if err := recoverJournals(store, cmd.ErrOrStderr()); err != nil {
					cli.Warn(cmd.ErrOrStderr(), "%v", err)
				}
			}
			tapes, broken, err := olderThan(store, limit)
			if err != nil {
				return err
			}
			if len(tapes) == 0 && !del.asJSON {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Nothing to delete: no tape is older than %s.\n", age); err != nil {
					return err
				}
				return complain(cmd.ErrOrStderr(), broken)
			}
			if asks {
				del.shown = true
				err := writeDoomed(cmd.ErrOrStderr(), tapes, time.Now())
				if err != nil {
					return err
				}
				if ok, err := confirm(cmd.InOrStdin(), cmd.ErrOrStderr(), tapes); err != nil || !ok {
					return err
				}
			}
			if err := del.run(cmd.OutOrStdout(), store, tapes); err != nil {
				return err
			}
			return complain(cmd.ErrOrStderr(), broken)
		},
	}
	cmd.Flags().StringVar(&age, "older-than", "", "`age`, such as 30d, 2w or 12h")
	cmd.Flags().BoolVar(&del.dry, "dry-run", false, "only list what would be deleted")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&del.asJSON, "json", false, "one JSON object a line")
	return cmd
}

// olderThan returns the unreadable tapes, and those that began longer ago than limit
// together with the tapes of their servers.
func olderThan(store *record.Store, limit time.Duration) ([]doomedTape, []record.Broken, error) {
	l, err := store.List()
	if err != nil {
		return nil, nil, err
	}
	tapes, err := describeTapes(store, tapesBefore(&l, time.Now().Add(-limit)))
	return tapes, l.Broken, err
}
