package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/wrap"
	"github.com/acptap/acptap/record"
)

func newDoctorCmd(dir *string) *cobra.Command {
	var deep, recovering, rebuild, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the store, and say what to do about problems",
		Args:  cli.Operands(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := ref.OpenStore(*dir)
			if err != nil {
				return err
			}
			var failed error // does not prevent the check of the store
			if recovering {
				failed = recoverJournals(store, cmd.ErrOrStderr())
			}
			if rebuild {
				p := cli.NewProgress(cmd.ErrOrStderr(), "rebuilding the catalogue")
				failed = errors.Join(failed, store.Rebuild(p.Count))
				p.End()
			}
			p := cli.NewProgress(cmd.ErrOrStderr(), "checking tapes")
			found := store.Examine(deep, p.Count)
			p.End()
			found = append(found, wrap.Commands{Store: dir}.Examine()...)
			found = append(found, examineShipping(store, time.Now())...)
			if asJSON {
				err = cli.WriteJSONLines(cmd.OutOrStdout(), found, func(d record.Diagnosis) any { return d })
			} else {
				err = writeDiagnoses(cmd.OutOrStdout(), found)
			}
			if err = errors.Join(err, failed); err != nil {
				return err
			}
			if slices.ContainsFunc(found, func(d record.Diagnosis) bool { return d.Bad }) {
				return cli.ErrNo
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&deep, "deep", false, "read every block of every tape")
	f.BoolVar(&recovering, "recover", false, "first compress the journals that killed proxies left behind")
	f.BoolVar(&rebuild, "rebuild", false, "first rebuild the catalogue from the tapes")
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	return cmd
}

// recoverJournals compresses the journals that killed proxies left.
func recoverJournals(store *record.Store, stderr io.Writer) error {
	p := cli.NewProgress(stderr, "compressing journals")
	defer p.End()
	return store.Recover(func() bool { return false }, p.Count)
}

func writeDiagnoses(w io.Writer, found []record.Diagnosis) error {
	fmt.Fprintf(w, "ok   acptap %s, format %d\n", cli.Version(), record.Format)
	return wrap.WriteDiagnoses(w, found)
}
