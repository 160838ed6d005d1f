package main

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/inspect/matrix"
	"github.com/acptap/acptap/record/termtext"
)

// maxUnproven is how many capabilities without evidence to name.
const maxUnproven = 4

// writeMatrix writes a matrix and a legend of its signs.
func writeMatrix(c cli.Canvas, m *matrix.Matrix) error {
	grids := m.Grids()
	if len(grids) == 0 {
		_, err := fmt.Fprintln(c.W, "Nobody says on these tapes what it offers.")
		return err
	}
	var lines [][]termtext.Span
	for _, g := range grids {
		lines = append(lines, g.Lines(c.Width)...)
		if len(g.Rest) > 0 {
			lines = append(lines, termtext.Dim.Line("no evidence: "+someOf(g.Rest)))
		}
		lines = append(lines, nil)
	}
	return writeMatrixLines(c, append(lines, dimLines(matrix.Legend, c.Width)...))
}

// dimLines returns a text as dim lines of at most width columns.
func dimLines(text string, width int) (lines [][]termtext.Span) {
	for _, line := range termtext.Wrap(text, width) {
		lines = append(lines, termtext.Dim.Line(line))
	}
	return lines
}

// someOf names the first few of names and says how many more there are.
func someOf(names []string) string {
	if more := len(names) - maxUnproven; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxUnproven], ", "), more)
	}
	return strings.Join(names, ", ")
}

// writeMatrixComparison writes what a new version does worse.
func writeMatrixComparison(c cli.Canvas, d *matrix.Comparison) error {
	from, to := termtext.Line(d.Before), termtext.Line(d.After)
	if len(d.Worse) == 0 {
		fmt.Fprintf(c.W, "%s does nothing worse than %s.\n", to, from)
	} else {
		fmt.Fprintf(c.W, "%s does %d things worse than %s:\n", to, len(d.Worse), from)
	}
	if err := writeMatrixChanges(c, d.Worse, "✗ ", termtext.Failure); err != nil {
		return err
	}
	if len(d.Other) > 0 {
		fmt.Fprintln(c.W, "Otherwise different:")
		if err := writeMatrixChanges(c, d.Other, "· ", termtext.Plain); err != nil {
			return err
		}
	}
	if len(d.NotCompared) == 0 {
		return nil
	}
	return writeMatrixLines(c, dimLines("Not compared, for want of an occasion: "+strings.Join(d.NotCompared, "; "), max(c.Width, 60)))
}

func writeMatrixChanges(c cli.Canvas, list []matrix.Change, sign string, style termtext.Style) error {
	t := cli.Table{Color: c.Color}
	for _, d := range list {
		at := ""
		if d.At != nil {
			at = fmt.Sprintf("%s:%d", d.At.Tape, d.At.Frame)
		}
		t.Spans(style.Line(sign+d.Kind), termtext.Plain.Line(d.What), termtext.Plain.Line(d.From+" → "+d.To), termtext.Dim.Line(at))
	}
	return t.Write(c.W, c.Width, 1)
}

func writeMatrixLines(c cli.Canvas, lines [][]termtext.Span) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(c.W, strings.TrimRight(termtext.SpansText(line, c.Color), " ")); err != nil {
			return err
		}
	}
	return nil
}
