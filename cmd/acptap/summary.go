package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/summary"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record/termtext"
)

func newSummaryCmd(dir *string) *cobra.Command {
	var asJSON bool
	var which tapelist.Subjects
	cmd := &cobra.Command{
		Use:   "summary [flags] [REF...]",
		Short: "Say in a few lines what happened on a tape",
		Args:  cli.Operands(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := which.Check(args); err != nil {
				return err
			}
			found, broken, err := which.Find(*dir, args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			if len(found)+len(broken) == 0 && !asJSON {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "No such tapes.")
				return err
			}
			lines := summary.Summary.Lines
			if which.Flagged() || len(args) > 1 {
				lines = func(s summary.Summary, width int) [][]termtext.Span { return s.Line(width) }
			}
			for _, sub := range found {
				s, parts, err := summaryOf(cmd.Context(), sub)
				if err != nil {
					return err
				}
				broken = append(broken, parts...)
				s.Ref = refOf(sub)
				if asJSON {
					err = cli.WriteJSON(cmd.OutOrStdout(), s)
				} else {
					err = writeSummary(cmd.OutOrStdout(), lines(s, cli.Columns(cmd.OutOrStdout())))
				}
				if err != nil {
					return err
				}
			}
			return complainOfParts(cmd.ErrOrStderr(), broken)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a tape")
	which.Register(cmd.Flags())
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

// refOf returns how commands name a subject; empty if it came from stdin.
func refOf(sub ref.Subject) string {
	name := cmp.Or(sub.Session, sub.File)
	if name == "" && sub.Store != nil {
		name = tapetext.ShortID(sub.Parts[len(sub.Parts)-1].Tape.ID())
	}
	return termtext.Line(name)
}

// writeSummary writes the lines of a summary, in colours on a terminal.
func writeSummary(w io.Writer, lines [][]termtext.Span) error {
	color := cli.TakesColor(w)
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(termtext.SpansText(line, color) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
