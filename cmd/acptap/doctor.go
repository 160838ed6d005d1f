package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/record"
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
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := openStore(*dir)
			if err != nil {
				return err
			}
			if seal {
				if err := store.Adopt(func() bool { return false }); err != nil {
					return err
				}
			}
			if rebuild {
				if err := store.Rebuild(); err != nil {
					return err
				}
			}
			p := newProgress(cmd.ErrOrStderr(), "looking at tapes")
			found := store.Examine(deep, func(done, total int) { p.show(int64(done), int64(total)) })
			p.end()
			if asJSON {
				err = writeJSON(cmd.OutOrStdout(), found, func(d record.Diagnosis) any { return d })
			} else {
				err = writeDiagnoses(cmd.OutOrStdout(), found)
			}
			for _, d := range found {
				if d.Bad && err == nil {
					return errNo
				}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&deep, "deep", false, "read every block of every tape")
	f.BoolVar(&seal, "seal", false, "first move the journals of killed proxies into their tapes")
	f.BoolVar(&rebuild, "rebuild", false, "first make the catalogue anew from the tapes")
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

func writeDiagnoses(w io.Writer, found []record.Diagnosis) error {
	fmt.Fprintf(w, "ok   acptap %s, format %d\n", version(), record.Format)
	for _, d := range found {
		if d.Bad {
			fmt.Fprintf(w, "BAD  %s\n     → %s\n", d.What, d.Advice)
			continue
		}
		fmt.Fprintf(w, "ok   %s\n", d.What)
	}
	return nil
}
