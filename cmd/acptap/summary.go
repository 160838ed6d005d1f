package main

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/record/termtext"
)

func newSummaryCmd(dir *string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "summary [REF]",
		Short: "Say in a few lines what happened on a tape",
		Args:  cli.Operands(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "last"
			if len(args) > 0 {
				name = args[0]
			}
			sub, err := ref.Resolve(*dir, name, cmd.InOrStdin())
			if err != nil {
				return err
			}
			s, broken, err := summaryOf(cmd.Context(), sub)
			if err != nil {
				return err
			}
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), s)
			} else {
				err = writeSummary(cmd.OutOrStdout(), s)
			}
			return cmp.Or(err, complainOfParts(cmd.ErrOrStderr(), broken))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object")
	return cmd
}

// summaryOf returns the summary of a subject. broken holds the errors for unreadable
// parts.
func summaryOf(ctx context.Context, sub ref.Subject) (s summary.Summary, broken []error, err error) {
	r, err := sub.Reader(false, sub.Parts...)
	if err == nil {
		s, broken = summary.Of(ctx, r)
	}
	return s, broken, err
}

// writeSummary writes a summary for people, in colours on a terminal.
func writeSummary(w io.Writer, s summary.Summary) error {
	color := cli.TakesColor(w)
	var b strings.Builder
	for _, line := range s.Lines(cli.Columns(w)) {
		b.WriteString(termtext.SpansText(line, color) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
