package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/termtext"
)

func newTagCmd(dir *string) *cobra.Command {
	var asJSON, remove bool
	cmd := &cobra.Command{
		Use:   "tag [flags] [REF] [TAG...]",
		Short: "Tag tapes, so that they are found again",
		Args:  cli.Operands(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			if len(args) == 0 {
				if remove {
					return errors.New("--remove needs a REF and a TAG")
				}
				return listTags(w, *dir, asJSON)
			}
			sub, err := ownTapes(*dir, args[0])
			if err != nil {
				return err
			}
			e := note.Edit{Tag: args[1:]}
			if remove {
				if e.Tag, e.Untag = nil, args[1:]; len(e.Untag) == 0 {
					return errors.New("--remove needs a TAG")
				}
			}
			for _, p := range sub.Parts {
				written, err := edited(sub.Store, p.Tape.ID(), e)
				if err != nil {
					return err
				}
				if err := writeTags(w, p.Tape.ID(), written.Tags, asJSON, len(sub.Parts) > 1); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&remove, "remove", "d", false, "remove the tags instead")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// ownTapes returns what a REF names in the store. It rejects files, because notes and
// tags live in the store.
func ownTapes(dir, name string) (ref.Subject, error) {
	if name == "-" || ref.IsFile(name) {
		return ref.Subject{}, fmt.Errorf("%q is a file; notes and tags are written on tapes of the store: see acptap import", name)
	}
	return ref.Resolve(dir, name, nil)
}

// edited makes an edit, unless it is empty, and returns the tape's resulting notes and
// tags.
func edited(store *record.Store, tape string, e note.Edit) (note.List, error) {
	if len(e.Tag)+len(e.Untag)+len(e.Add)+len(e.Remove) == 0 {
		return store.Notes(tape)
	}
	return store.Annotate(tape, e)
}

// writeTags lists the tags of a tape, one per line. If several is set, each line begins
// with the tape's ID.
func writeTags(w io.Writer, tape string, tags []string, asJSON, several bool) error {
	if asJSON {
		return cli.WriteJSON(w, struct {
			Tape string   `json:"tape"`
			Tags []string `json:"tags"`
		}{tape, slices.Concat([]string{}, tags)})
	}
	text := ""
	if len(tags) == 0 && !several {
		text = "No tags.\n"
	}
	for _, tag := range tags {
		if several {
			tag = tape + "  " + tag
		}
		text += termtext.Line(tag) + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// listTags lists all tags of a store, and how many tapes have them.
func listTags(w io.Writer, dir string, asJSON bool) error {
	_, l, err := ref.ListStore(dir)
	if err != nil {
		return err
	}
	tapes := map[string]int{}
	for _, i := range l.Tapes {
		for _, tag := range i.Tags {
			tapes[tag]++
		}
	}
	tags := slices.Sorted(maps.Keys(tapes))
	switch {
	case asJSON:
		return cli.WriteJSONLines(w, tags, func(tag string) any {
			return struct {
				Tag   string `json:"tag"`
				Tapes int    `json:"tapes"`
			}{tag, tapes[tag]}
		})
	case len(tags) == 0:
		_, err = fmt.Fprintln(w, "No tags. To tag the newest tape: acptap tag last TAG")
		return err
	}
	t := &cli.Table{Color: cli.TakesColor(w), Right: []int{1}}
	t.Heading("TAG", "TAPES")
	for _, tag := range tags {
		t.Row(tag, fmt.Sprint(tapes[tag]))
	}
	return t.Write(w, cli.Columns(w), 0)
}
