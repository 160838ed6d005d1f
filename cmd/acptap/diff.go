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
		Long: `Compares the outlines of two conversations and writes the differences as a
unified diff, in colours on a terminal. --compare says what counts:

  shape    turns and how they ended, calls, kinds of messages and tool calls;
           consecutive chunks are one message
  content  also the text, and the input and output of tool calls
  exact    every frame with all of its values, but not its time

Ids, times, token counts, the working directory, and the order in which
concurrent sessions act count with exact only. On tapes of the Model Context
Protocol, calls and their results are compared.

--json is an object with level and hunks: old and new, the numbers of the first
line in either outline, and lines (op: " ", "-" or "+"; text).
` + ref.Help + `

Exit status 0 if they are the same; 1 if they differ; 2 if one cannot be read.`,
		Example: `  acptap diff last~1 last
  acptap diff --compare shape testdata/fix.jsonl last
  acptap diff --json a.jsonl b.jsonl | jq .hunks`,
		Args: cli.Operands(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
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
		return cli.WriteJSON(w, diff)
	}
	return cli.WriteDiff(w, func(w io.Writer) error { return diff.WriteUnified(w, oldName, newName) })
}

func side(s ref.Subject) compare.Side { return compare.Side{Tapes: s.Tapes(), Session: s.Session} }
