package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/terminal"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

func newDoctorCmd(dir *string) *cobra.Command {
	var deep, seal, rebuild, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong with the store, and say what to do",
		Long: `Looks at the store: its owner and permissions, the disk, the catalogue, journals
that killed proxies have left, and whether each tape can be read. It changes
nothing but what --seal and --rebuild ask for.

Exit status 0; 1 if something is wrong; 2 if it could not look.`,
		Example: `  acptap doctor
  acptap doctor --deep
  acptap doctor --seal --rebuild`,
		Args: operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := openStore(*dir)
			if err != nil {
				return err
			}
			var failed error // what could not be mended is looked at all the same
			if seal {
				failed = recoverJournals(store, cmd.ErrOrStderr())
			}
			if rebuild {
				p := terminal.NewProgress(cmd.ErrOrStderr(), "making the catalogue")
				failed = errors.Join(failed, store.Rebuild(p.Count))
				p.End()
			}
			p := terminal.NewProgress(cmd.ErrOrStderr(), "looking at tapes")
			found := store.Examine(deep, p.Count)
			p.End()
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), found, func(d record.Diagnosis) any { return d })
			} else {
				err = writeDiagnoses(cmd.OutOrStdout(), found)
			}
			if err = errors.Join(err, failed); err != nil {
				return err
			}
			if slices.ContainsFunc(found, func(d record.Diagnosis) bool { return d.Bad }) {
				return errNo
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&deep, "deep", false, "read every block of every tape")
	f.BoolVar(&seal, "seal", false, "first move the journals of killed proxies into their tapes")
	f.BoolVar(&rebuild, "rebuild", false, "first make the catalogue anew from the tapes")
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// recoverJournals seals what killed proxies have left.
func recoverJournals(store *record.Store, stderr io.Writer) error {
	p := terminal.NewProgress(stderr, "sealing journals")
	defer p.End()
	return store.Recover(func() bool { return false }, p.Count)
}

func writeDiagnoses(w io.Writer, found []record.Diagnosis) error {
	fmt.Fprintf(w, "ok   acptap %s, format %d\n", version(), record.Format)
	for _, d := range found {
		if d.Bad {
			fmt.Fprintf(w, "BAD  %s\n     → %s\n", termtext.Line(d.What), d.Advice)
			continue
		}
		fmt.Fprintf(w, "ok   %s\n", termtext.Line(d.What))
	}
	return nil
}
