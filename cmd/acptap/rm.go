package main

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

func newRmCmd(dir *string) *cobra.Command {
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use:   "rm [flags] TAPE|SESSION...",
		Short: "Delete tapes, or sessions with their tapes",
		Long: `Deletes tapes and their files; nothing of them stays readable in the store. TAPE
is the id of a tape, any part of it that no other tape has, last or last~1, or a
name given with acptap proxy --name, which is the newest tape of that name.
SESSION is the id of a session, or its beginning. Sessions that a client
deleted, which only hides them, can be named too. If an agent used a session id
again, sess_1@7k2m9p names the session on that tape.

A tape is deleted with those of the servers that its agent started; last+NAME
deletes only that of one server. A session is deleted with all tapes that it is
on. Tapes are deleted as a whole: if another session was prompted on one of them
and is not named too, nothing is deleted. What other tapes say about the session
stays, such as its title in a list. A tape that is being recorded is refused.

What is deleted is listed with its title, which is that of the first session on
the tape, or the beginning of its first prompt.

A line of --json is an object with
` + cli.Members(doomedTape{}) + `
Exit status 0; 2 if something could not be deleted.`,
		Example: `  acptap rm 7k2m9p
  acptap rm --dry-run last last~1
  acptap rm sess_afb3`,
		Args: cli.Operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := ref.OpenStore(*dir)
			if err != nil {
				return err
			}
			del, err := findTapes(store, args)
			if err != nil {
				return err
			}
			for _, k := range del.Kept {
				cli.Warn(cmd.ErrOrStderr(), "tape %s stays: session %s was opened on it, but not used", k.Tape, termtext.Line(k.Session))
			}
			tapes, err := describeTapes(store, del.Tapes)
			if err != nil {
				return err
			}
			return deletions{dry: dry, asJSON: asJSON}.run(cmd.OutOrStdout(), store, tapes)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list what would be deleted")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// deletions are the options for deleting tapes.
type deletions struct {
	dry    bool // only list the tapes
	shown  bool // the user has already seen the list
	asJSON bool
}

// run deletes tapes and lists them.
func (d deletions) run(w io.Writer, store *record.Store, tapes []doomedTape) error {
	gone, verb := tapes, "would be deleted"
	var failed error
	if !d.dry {
		gone, failed = deleteTapes(store, tapes)
		verb = "deleted"
	}
	if d.asJSON {
		return errors.Join(failed, cli.WriteJSONLines(w, gone, func(t doomedTape) any { return t }))
	}
	if !d.shown {
		failed = errors.Join(failed, writeDoomed(w, gone, time.Now()))
	}
	return errors.Join(failed, writeDoomedTotal(w, gone, verb))
}
