package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

func newRmCmd(dir *string) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "rm [flags] TAPE|SESSION...",
		Short: "Delete tapes, or sessions with their tapes",
		Long: `Deletes tapes, with their files: nothing of them stays readable in the store.
TAPE is an id, any part of it that no other tape has, last, or last~1. SESSION
is the id of a session, or its beginning; also of one that a client has deleted,
which only hides it. Where an agent has used an id again, @ and a tape behind it
say which is meant: sess_1@7k2m9p.

A session goes with all tapes on which something passed for it. A tape is
deleted as a whole: if other sessions were prompted on one of them, nothing is
deleted, unless they are named too. What other tapes tell of the session stays,
such as its title in a list. What is being recorded is refused.

Exit status 0; 2 if something could not be deleted.`,
		Example: `  acptap rm 7k2m9p
  acptap rm --dry-run last last~1
  acptap rm sess_afb3`,
		Args: operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := openStore(*dir)
			if err != nil {
				return err
			}
			del, err := findDeletion(store, args)
			if err != nil {
				return err
			}
			for _, k := range del.kept {
				warn(cmd.ErrOrStderr(), "tape %s stays: session %s was opened on it, but nothing was said", k.tape, termtext.Line(k.session))
			}
			return deleteTapes(cmd.OutOrStdout(), store, del.tapes, dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be deleted")
	return cmd
}

// deleteTapes deletes tapes and says so.
func deleteTapes(w io.Writer, store *record.Store, ids []string, dry bool) error {
	sizes, err := store.Sizes(ids...)
	if err != nil {
		return err
	}
	gone, verb := ids, "would be deleted"
	var failed error
	if !dry {
		gone, failed = store.Delete(ids...)
		verb = "deleted"
	}
	var freed int64
	for _, id := range gone {
		freed += sizes[id]
		fmt.Fprintln(w, termtext.Line(id))
	}
	fmt.Fprintf(w, "%s %s, %s\n", count(uint64(len(gone)), "tape"), verb, termtext.ByteSize(freed))
	return failed
}
