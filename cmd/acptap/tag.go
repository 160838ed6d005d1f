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
		Long: `Adds tags to a tape, or to the tapes of a session. A tag is one word. acptap ls
shows tags, acptap ls --tag lists the tapes that have one, and a tag that only
one tape has can be used as a REF. They go with the tape when it is exported,
imported or deleted; the recording itself does not change.

Without TAG it lists the tags of the tape; without REF, all tags there are.

A line of --json is an object with tape and tags; without REF, with tag and
tapes, the number of tapes that have it.
` + ref.Help + `

Exit status 0; 2 if REF is no tape of the store, or TAG is no tag.`,
		Example: `  acptap tag last slow bug-7
  acptap tag --remove last slow
  acptap tag
  acptap ls --tag bug-7`,
		Args: cli.Operands(0, -1),
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

// ownTapes returns what a REF names in the store. It rejects files, because the store keeps
// notes and tags.
func ownTapes(dir, name string) (ref.Subject, error) {
	if name == "-" || ref.IsFile(name) {
		return ref.Subject{}, fmt.Errorf("%q is a file; notes and tags are written on tapes of the store: see acptap import", name)
	}
	return ref.Resolve(dir, name, nil)
}

// edited makes an edit, unless it is empty, and returns the resulting notes and tags of the
// tape.
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
	t := &cli.Table{}
	t.Row("TAG", "TAPES")
	for _, tag := range tags {
		t.Row(tag, fmt.Sprint(tapes[tag]))
	}
	return t.Write(w, cli.Columns(w), 0)
}
