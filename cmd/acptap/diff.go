package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
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
			w := cmd.OutOrStdout()
			if !asJSON && !diff.Same() {
				err = cmp.Or(writeRun(w, args[0], a), writeRun(w, args[1], b))
			}
			if err := cmp.Or(err, writeDiff(w, diff, args[0], args[1], asJSON)); err != nil {
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

// writeRun writes a line that says how a run ended.
func writeRun(w io.Writer, name string, s ref.Subject) error {
	var how dialect.Outcome
	var took time.Duration
	var newest record.Info
	for _, t := range s.Tapes() {
		info, err := t.Info()
		if err != nil {
			return err
		}
		outcome, err := outcomeOf(t, info, s.Session)
		if err != nil {
			return err
		}
		how, took, newest = how.Or(outcome), took+info.Took(), info
	}
	line := []termtext.Span{termtext.Bold.Span(termtext.Line(name)), termtext.Plain.Span("  "), tapetext.OutcomeSpan(how)}
	if s.Session == "" && took > 0 {
		line = append(line, termtext.Dim.Span(" · "+termtext.Duration(took)))
	}
	if agent := tapetext.Agent(newest, maxAgent); termtext.SpansWidth(agent) > 0 {
		line = append(append(line, termtext.Dim.Span(" · ")), agent...)
	}
	_, err := fmt.Fprintln(w, termtext.SpansText(line, cli.TakesColor(w)))
	return err
}

// maxAgent limits the columns of an agent's name.
const maxAgent = 50

// outcomeOf returns the outcome of a tape, or of a session on it.
func outcomeOf(t *record.Tape, info record.Info, session string) (dialect.Outcome, error) {
	if session == "" || info.Live {
		return info.Outcome(), nil
	}
	sessions, err := t.Sessions()
	for _, one := range sessions {
		if one.ID == session {
			return one.Worst().Or(dialect.Outcome{How: dialect.Done}), err
		}
	}
	return info.Outcome(), err
}

func side(s ref.Subject) compare.Side { return compare.Side{Tapes: s.Tapes(), Session: s.Session} }
