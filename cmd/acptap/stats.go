package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

func newStatsCmd(dir *string) *cobra.Command {
	var by string
	var asJSON, asCSV bool
	var which tapelist.Subjects
	cmd := &cobra.Command{
		Use:   "stats [flags] [REF...]",
		Short: "Say where the time and the tokens went",
		Args:  cli.Operands(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var c stats.Collector
			var err error
			if by != "" {
				if c.By, err = stats.ParseBy(by); err != nil {
					return fmt.Errorf("--by: %w", err)
				}
			}
			if err := cli.Exclusive(cmd.Flags(), "json", "csv"); err != nil {
				return err
			}
			if err := which.Check(args); err != nil {
				return err
			}
			found, broken, err := which.Find(*dir, args, cmd.InOrStdin())
			if err != nil {
				return err
			}
			if len(found)+len(broken) == 0 && !asJSON && !asCSV {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "No such tapes.")
				return err
			}
			parts, err := collect(cmd.Context(), &c, found, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := writeStats(cmd.OutOrStdout(), &c, asJSON, asCSV); err != nil {
				return err
			}
			broken = append(broken, parts...)
			return complainOfParts(cmd.ErrOrStderr(), broken)
		},
	}
	f := cmd.Flags()
	f.StringVar(&by, "by", "", "one table with rows by `what`: agent, version, method, tool, server, session or turn")
	which.Register(f)
	f.BoolVar(&asJSON, "json", false, "one JSON object a line")
	f.BoolVar(&asCSV, "csv", false, "comma-separated values")
	return cmd
}

// collect reads subjects. broken holds the errors for unreadable parts.
func collect(ctx context.Context, c *stats.Collector, found []ref.Subject, stderr io.Writer) (broken []error, err error) {
	r, err := tapelist.Reader(found, false)
	if err != nil {
		return nil, err
	}
	var done, frames int64
	for _, p := range r.Agents() {
		frames += int64(p.Info.Lines)
	}
	bar := cli.NewProgress(stderr, "reading")
	defer bar.End()
	h := reading.History{Trace: trace.Trace{Brief: true}}
	for e := range r.Read(ctx) {
		own := h.Take(e)
		switch {
		case e.Err != nil:
			broken = append(broken, e.Err)
		case e.Kind == reading.Begins && !e.Part.IsServer():
			c.Take(&h.Trace) // the end of the previous tape
			c.Begin(e.Part.Info)
		case own:
			c.Take(&h.Trace)
			c.Weigh(&e.Frame, &h.Trace)
			if done++; done%1024 == 0 {
				bar.Show(done, frames)
			}
		}
	}
	h.End()
	for t := range h.Servers() {
		c.Server(t)
	}
	c.Take(&h.Trace)
	c.End(&h.Trace)
	return broken, ctx.Err()
}

// writeStats writes the collected statistics.
func writeStats(w io.Writer, c *stats.Collector, asJSON, asCSV bool) error {
	tables := []stats.Table{}
	if c.By == "" {
		tables = c.Overview()
	} else {
		tables = append(tables, c.Grouped())
	}
	switch {
	case asCSV:
		return stats.WriteCSV(w, tables...)
	case asJSON:
		for _, t := range tables {
			for _, line := range t.Lines() {
				if err := cli.WriteJSON(w, line); err != nil {
					return err
				}
			}
		}
		return nil
	}
	var texts []string
	for _, t := range tables {
		most := len(t.Rows)
		if t.Name == "tools" || t.Name == "servers" || t.Name == "methods" {
			most = mostRows
		}
		if len(t.Rows) > 0 {
			var b strings.Builder
			if err := writeTable(cli.Canvas{W: &b, Width: cli.Columns(w), Color: cli.TakesColor(w)}, &t, most); err != nil {
				return err
			}
			texts = append(texts, b.String())
		} else if t.Name == "tokens" && c.Turns().Total() > 0 {
			texts = append(texts, "No tokens or cost reported.\n")
		}
	}
	if len(texts) == 0 {
		texts = []string{"No turns and no calls.\n"}
	}
	_, err := io.WriteString(w, strings.Join(texts, "\n"))
	return err
}

// mostRows limits the rows of tools, servers and methods when other tables are shown too.
const mostRows = 8

// writeTable writes no more than most rows of a table for people, with the columns that
// fit.
func writeTable(on cli.Canvas, t *stats.Table, most int) error {
	out := &cli.Table{Color: on.Color}
	shown := t.Shown(on.Width, 16)
	var heading []string
	var cut []int
	for at, i := range shown {
		heading = append(heading, strings.ToUpper(t.Columns[i].Heading))
		if t.Columns[i].Left {
			cut = append(cut, at)
		} else {
			out.Right = append(out.Right, at)
		}
	}
	out.Heading(heading...)
	for _, row := range t.Rows[:min(most, len(t.Rows))] {
		var cells [][]termtext.Span
		for _, i := range shown {
			style := termtext.Plain
			if row[i].TellsNothing() {
				style = termtext.Dim
			} else if t.Columns[i].Name == "failed" {
				style = termtext.Failure
			}
			cells = append(cells, style.Line(row[i].String()))
		}
		out.Spans(cells...)
	}
	if err := out.Write(on.W, on.Width, cut...); err != nil {
		return err
	}
	if more := len(t.Rows) - most; more > 0 {
		_, err := fmt.Fprintf(on.W, "and %d more: --by %s\n", more, strings.TrimSuffix(t.Name, "s"))
		return err
	}
	return nil
}
