package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/note"
)

func newNoteCmd(dir *string) *cobra.Command {
	var asJSON, remove bool
	cmd := &cobra.Command{
		Use:   "note [flags] REF[:FRAME] [TEXT...]",
		Short: "Write notes on a tape, or on its frames",
		Args:  cli.Operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, of := ref.CutFrame(args[0])
			sub, err := ownTapes(*dir, name)
			if err != nil {
				return err
			}
			if len(sub.Parts) > 1 && of.Seq == 0 {
				return fmt.Errorf("session %s is on %d tapes, such as %s; name the tape", sub.Session, len(sub.Parts), sub.Parts[0].Tape.ID())
			}
			part := sub.Parts[0]
			if len(sub.Parts) > 1 || of.Part > 0 {
				if part, err = sub.PartWith(of); err != nil {
					return err
				}
			}
			tape, frame := part.Tape.ID(), of.Seq
			switch {
			case remove:
				return removeNotes(sub.Store, tape, frame, args[1:])
			case len(args) == 1:
				return listNotes(cmd.OutOrStdout(), sub.Store, tape, frame, asJSON)
			}
			written, err := sub.Store.Annotate(tape, note.Edit{Add: []note.Note{{Frame: frame, Text: strings.TrimSpace(strings.Join(args[1:], " "))}}})
			if err != nil {
				return err
			}
			return writeNotes(cmd.OutOrStdout(), tape, latest(written.Notes), asJSON)
		},
	}
	cmd.Flags().BoolVarP(&remove, "remove", "d", false, "remove notes instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// latest returns the newest note.
func latest(notes []note.Note) []note.Note {
	last := 0
	for i, n := range notes {
		if n.ID > notes[last].ID {
			last = i
		}
	}
	return notes[last : last+1]
}

// removeNotes removes the notes on a frame, or those with these numbers.
func removeNotes(store *record.Store, tape string, frame uint64, numbers []string) error {
	var ids []uint64
	for _, text := range numbers {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not the number of a note; see acptap note %s", text, tape)
		}
		ids = append(ids, id)
	}
	switch {
	case frame > 0 && len(ids) > 0:
		return errors.New("give either the number of a frame or numbers of notes to remove")
	case frame == 0 && len(ids) == 0:
		return errors.New("which notes? --remove takes REF:FRAME, or the numbers of notes after REF")
	case frame > 0:
		written, err := store.Notes(tape)
		if err != nil {
			return err
		}
		for _, n := range written.On(frame) {
			ids = append(ids, n.ID)
		}
		if len(ids) == 0 {
			return fmt.Errorf("there is no note on frame %d of tape %s", frame, tape)
		}
	}
	_, err := store.Annotate(tape, note.Edit{Remove: ids})
	return err
}

func listNotes(w io.Writer, store *record.Store, tape string, frame uint64, asJSON bool) error {
	written, err := store.Notes(tape)
	if err != nil {
		return err
	}
	notes := written.Notes
	if frame > 0 {
		notes = written.On(frame)
	}
	if len(notes) == 0 && !asJSON {
		_, err := fmt.Fprintln(w, "No notes.")
		return err
	}
	return writeNotes(w, tape, notes, asJSON)
}

// A noteLine is a note as --json writes it.
type noteLine struct {
	Tape  string    `json:"tape" help:"id"`
	Note  uint64    `json:"note" help:"its number on the tape"`
	Frame uint64    `json:"frame,omitempty" help:"number of the frame; not there for a note on the tape"`
	Text  string    `json:"text,omitempty" help:"not there for a bookmark"`
	At    time.Time `json:"at,omitzero" help:"when it was written (RFC 3339)"`
}

func writeNotes(w io.Writer, tape string, notes []note.Note, asJSON bool) error {
	if asJSON {
		return cli.WriteJSONLines(w, notes, func(n note.Note) any { return noteLine{tape, n.ID, n.Frame, n.Text, n.At} })
	}
	t := &cli.Table{Color: cli.TakesColor(w)}
	t.Heading("NOTE", "FRAME", "WRITTEN", "TEXT")
	for _, n := range notes {
		frame, written, text := "", "", n.Text
		if n.Frame > 0 {
			frame = fmt.Sprint(n.Frame)
		}
		if !n.At.IsZero() {
			written = tapetext.Time(n.At)
		}
		if text == "" {
			text = "(bookmark)"
		}
		t.Row(fmt.Sprint(n.ID), frame, written, strings.Join(strings.Fields(text), " "))
	}
	return t.Write(w, cli.Columns(w), 3)
}
