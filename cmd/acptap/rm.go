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
		Long: `Deletes tapes and their files; nothing of them stays readable in the store. TAPE
is the id of a tape, any part of it that no other tape has, last, or last~1.
SESSION is the id of a session, or its beginning. Sessions that a client
deleted, which only hides them, can be named too. If an agent used a session id
again, sess_1@7k2m9p names the session on that tape.

A session is deleted with all tapes that it is on. Tapes are deleted as a whole:
if another session was prompted on one of them and is not named too, nothing is
deleted. What other tapes say about the session stays, such as its title in a
list. A tape that is being recorded is refused.

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
				warn(cmd.ErrOrStderr(), "tape %s stays: session %s was opened on it, but not used", k.tape, termtext.Line(k.session))
			}
			return deleteTapes(cmd.OutOrStdout(), store, del.tapes, dry)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be deleted")
	return cmd
}

// deleteTapes deletes tapes and lists them.
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
