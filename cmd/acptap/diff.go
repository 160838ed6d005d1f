package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/replay/compare"
)

func newDiffCmd(dir *string) *cobra.Command {
	level := compare.Content
	var exact, asJSON bool
	cmd := &cobra.Command{
		Use:   "diff [flags] REF REF",
		Short: "Compare two tapes or sessions",
		Args:  cli.Operands(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cli.SaveMemory()
			if args[0] == "-" && args[1] == "-" {
				return errors.New("only one REF can be stdin")
			}
			a, err := ref.Resolve(*dir, args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			b, err := ref.Resolve(*dir, args[1], cmd.InOrStdin())
			if err != nil {
				return err
			}
			if exact {
				level = compare.Exact
			}
			diff, err := compare.Tapes(side(a), side(b), level)
			if err != nil {
				return err
			}
			if err := writeDiff(cmd.OutOrStdout(), diff, args[0], args[1], asJSON); err != nil {
				return err
			}
			if !diff.Same() {
				return cli.ErrNo
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.TextVar(&level, "compare", level, "the `level` of comparison: shape, content or exact")
	f.BoolVar(&exact, "exact", false, "the same as --compare exact")
	f.BoolVar(&asJSON, "json", false, "write the diff as one JSON object")
	return cmd
}

func writeDiff(w io.Writer, diff compare.Diff, oldName, newName string, asJSON bool) error {
	if asJSON {
		if err := diff.WriteJSON(w); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\n")
		return err
	}
	return cli.WriteDiff(w, func(w io.Writer) error { return diff.WriteUnified(w, oldName, newName) })
}

func side(s ref.Subject) compare.Side { return compare.Side{Tapes: s.Tapes(), Session: s.Session} }
