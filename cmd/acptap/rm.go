package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

func newRmCmd(dir *string) *cobra.Command {
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use:     "rm [flags] TAPE|SESSION...",
		Aliases: []string{"delete"},
		Short:   "Delete tapes, or sessions with their tapes",
		Args:    cli.Operands(1, -1),
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

// deletions holds the options for deleting tapes.
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

// A doomedTape is a tape to delete, as --json writes it: its ID, and what helps the user
// recognize it.
type doomedTape struct {
	Tape    string    `json:"tape" help:"id"`
	Started time.Time `json:"started,omitzero" help:"RFC 3339"`
	Agent   string    `json:"agent" help:"what the agent is called"`
	Title   string    `json:"title" help:"of its first session, else the beginning of its first prompt"`
	Turns   uint64    `json:"turns" help:"how many"`
	Size    int64     `json:"size" help:"bytes on disk"`
	Deleted bool      `json:"deleted" help:"false: it is still there"`
	Error   string    `json:"error,omitempty" help:"why the tape could not be read"`

	Parent record.Parent `json:"parent,omitzero" help:"as in acptap ls"`
}

// describeTapes describes the tapes with these ids. It sets Error for unreadable tapes,
// which can still be deleted.
func describeTapes(store *record.Store, ids []string) ([]doomedTape, error) {
	sizes, err := store.Sizes(ids...)
	if err != nil {
		return nil, err
	}
	list := make([]doomedTape, len(ids))
	for i, id := range ids {
		list[i] = doomedTape{Tape: id, Size: sizes[id]}
		if err := list[i].read(store); err != nil {
			list[i].Error = err.Error()
		}
	}
	return list, nil
}

func (t *doomedTape) read(store *record.Store) error {
	tape, err := store.Open(t.Tape)
	if err != nil {
		return err
	}
	info, err := tape.Info()
	if err != nil {
		return err
	}
	t.Started, t.Agent, t.Turns, t.Parent = info.Start.Time, tapetext.AgentName(info), info.Turns, info.Start.Parent
	sessions, err := tape.Sessions()
	if err != nil {
		return err
	}
	t.Title = tapelist.Titles(sessions)[t.Tape]
	return nil
}

// writeDoomed writes a line for each tape.
func writeDoomed(w io.Writer, tapes []doomedTape, now time.Time) error {
	t := &cli.Table{}
	if len(tapes) > 0 {
		t.Row("TAPE", "AGE", "AGENT", "TURNS", "SIZE", "TITLE")
	}
	for _, one := range tapes {
		age, title, agent := "", one.Title, one.Agent
		if one.Parent.Tape != "" {
			agent = "└ " + agent
		}
		if !one.Started.IsZero() {
			age = tapetext.Age(now.Sub(one.Started))
		}
		if one.Error != "" {
			title = "cannot be read: " + one.Error
		}
		t.Row(tapetext.ShortID(one.Tape), age, agent, fmt.Sprint(one.Turns), termtext.ByteSize(one.Size), title)
	}
	return t.Write(w, cli.Columns(w), 2, 5)
}

// writeDoomedTotal writes the number of tapes, the verb, and their total size.
func writeDoomedTotal(w io.Writer, tapes []doomedTape, verb string) error {
	number, size := total(tapes)
	_, err := fmt.Fprintf(w, "%s %s, %s\n", number, verb, size)
	return err
}

func total(tapes []doomedTape) (number, size string) {
	var bytes int64
	for _, t := range tapes {
		bytes += t.Size
	}
	return termtext.Counted(len(tapes), "tape"), termtext.ByteSize(bytes)
}

// deleteTapes deletes tapes and returns those that were deleted.
func deleteTapes(store *record.Store, tapes []doomedTape) (gone []doomedTape, err error) {
	ids := make([]string, len(tapes))
	for i, t := range tapes {
		ids[i] = t.Tape
	}
	deleted, err := store.Delete(ids...)
	for _, t := range tapes {
		if t.Deleted = slices.Contains(deleted, t.Tape); t.Deleted {
			gone = append(gone, t)
		}
	}
	return gone, err
}

// confirm asks the user whether to delete tapes. Only y and yes confirm.
func confirm(in io.Reader, out io.Writer, tapes []doomedTape) (bool, error) {
	number, size := total(tapes)
	if _, err := fmt.Fprintf(out, "Delete %s, %s? [y/N] ", number, size); err != nil {
		return false, err
	}
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, err
	}
	if err == io.EOF {
		fmt.Fprintln(out) // end the line, because the terminal did not
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	_, err = fmt.Fprintln(out, "Nothing was deleted.")
	return false, err
}
