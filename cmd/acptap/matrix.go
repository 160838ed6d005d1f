package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/matrix"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

func newMatrixCmd(dir *string) *cobra.Command {
	m := matrixFlags{which: tapelist.Subjects{Everything: true}, side: "agent", format: "table"}
	cmd := &cobra.Command{
		Use:   "matrix [flags] [REF... | VERSION VERSION]",
		Short: "Show what agents can do, or what a new version does worse",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := m.parse(); err != nil {
				return err
			}
			ctx, stop := cli.UntilSignal(cmd.Context())
			defer stop()
			r := matrixRun{matrixFlags: &m, ctx: ctx, dir: *dir, in: cmd.InOrStdin(), out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
			return r.run(args)
		},
	}
	f := cmd.Flags()
	m.which.Register(f)
	f.StringVar(&m.side, "side", m.side, "whose capabilities, by `side`: agent or client")
	f.BoolVar(&m.cases, "cases", false, "show how the cases of acptap probe ended, in place of capabilities")
	f.StringVar(&m.dialect, "dialect", "", "only tapes of this `dialect`: v1, v2-early, v2, legacy or modern")
	f.StringVar(&m.format, "format", m.format, "output `format`: table, markdown, html or json")
	return cmd
}

// matrixFlags holds the flags.
type matrixFlags struct {
	which                 tapelist.Subjects
	side, dialect, format string
	cases                 bool

	of   dialect.Side
	only dialect.Dialect
}

func (m *matrixFlags) parse() error {
	if err := cmp.Or(cli.OneOf("side", m.side, "agent", "client"), cli.OneOf("format", m.format, "table", "markdown", "html", "json")); err != nil {
		return err
	}
	if m.of = dialect.AgentSide; m.side == "client" {
		m.of = dialect.ClientSide
	}
	if m.dialect != "" {
		if err := m.only.UnmarshalText([]byte(m.dialect)); err != nil {
			return fmt.Errorf("--dialect: %w", err)
		}
	}
	return nil
}

// A matrixRun is one invocation of the command.
type matrixRun struct {
	*matrixFlags
	ctx      context.Context
	dir      string
	in       io.Reader
	out, err io.Writer

	broken int // tapes that could not be read completely
}

func (r *matrixRun) run(args []string) error {
	if len(args) == 2 && isVersion(args[0]) && isVersion(args[1]) {
		return r.compare(args[0], args[1])
	}
	m, err := r.read(args)
	if err != nil {
		return err
	}
	switch r.format {
	case "json":
		err = cli.WriteJSONLines(r.out, m.Rows(), func(row matrix.Row) any { return row })
	case "html":
		err = m.WriteHTML(r.out)
	case "markdown":
		_, err = io.WriteString(r.out, m.Markdown())
	default:
		err = writeMatrix(cli.NewCanvas(r.out), m)
	}
	return r.end(err)
}

// end returns err or, if some tapes could not be read completely, an error.
func (r *matrixRun) end(err error) error {
	if r.broken > 0 && (err == nil || errors.Is(err, cli.ErrNo)) {
		return fmt.Errorf("%s cannot be read whole; acptap doctor --deep says more", termtext.Counted(r.broken, "tape"))
	}
	return err
}

// isVersion reports whether an argument is NAME@VERSION or @REF.
func isVersion(arg string) bool { return strings.Contains(arg, "@") && !ref.IsFile(arg) }

func (r *matrixRun) compare(before, after string) error {
	if r.format != "table" && r.format != "json" {
		return fmt.Errorf("two versions are compared as a table or as JSON, not as %s", r.format)
	}
	var all *matrix.Matrix
	find := func(arg string) (*matrix.Peer, error) {
		if tape, ok := strings.CutPrefix(arg, "@"); ok {
			m, err := r.read([]string{tape})
			if err != nil {
				return nil, err
			}
			return m.Only(tape)
		}
		if all == nil {
			var err error
			if all, err = r.read(nil); err != nil {
				return nil, err
			}
		}
		return all.Find(arg)
	}
	a, err := find(before)
	if err != nil {
		return err
	}
	b, err := find(after)
	if err != nil {
		return err
	}
	if a.Protocol != b.Protocol {
		return fmt.Errorf("%s speaks %s and %s speaks %s: there is nothing to compare", a.ID(), a.Protocol, b.ID(), b.Protocol)
	}
	c := matrix.Compare(r.of, a, b)
	if r.format == "json" {
		err = cli.WriteJSON(r.out, c)
	} else {
		err = writeMatrixComparison(cli.NewCanvas(r.out), c)
	}
	if err == nil && len(c.Worse) > 0 {
		err = cli.ErrNo
	}
	return r.end(err)
}

// read returns the matrix of the named tapes or, without names, of the store's selected
// tapes.
func (r *matrixRun) read(names []string) (*matrix.Matrix, error) {
	tapes, err := r.tapes(names)
	if err != nil {
		return nil, err
	}
	bar := cli.NewProgress(r.err, "reading tapes")
	defer bar.End()
	m, broken := matrix.OfTapes(r.ctx, r.of, tapes, bar.Count)
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	bar.End()
	m.Cases = r.cases
	for _, err := range broken {
		cli.Warn(r.err, "%v", err)
	}
	r.broken += len(broken)
	return m, nil
}

func (r *matrixRun) tapes(names []string) (tapes []matrix.Tape, err error) {
	if err := r.which.Check(names); err != nil {
		return nil, err
	}
	found, broken, err := r.which.Find(r.dir, names, r.in)
	if err != nil {
		return nil, err
	}
	for _, err := range broken {
		cli.Warn(r.err, "%v", err)
	}
	r.broken += len(broken)
	if len(found)+len(broken) == 0 && !r.which.Flagged() {
		store, err := ref.OpenStore(r.dir)
		if err != nil {
			return nil, err
		}
		fmt.Fprint(r.err, emptyText(store.Dir()))
	}
	for _, sub := range found {
		for _, t := range sub.Tapes() {
			if r.only != dialect.Unknown {
				if info, err := t.Info(); err != nil {
					return nil, err
				} else if info.Connection.Dialect != r.only {
					continue
				}
			}
			tapes = append(tapes, matrix.Tape{Tape: t, File: sub.File, Store: sub.Store})
		}
	}
	return tapes, nil
}

// maxUnproven limits the capabilities without evidence that are named.
const maxUnproven = 4

// writeMatrix writes a matrix with a legend of its signs.
func writeMatrix(c cli.Canvas, m *matrix.Matrix) error {
	grids := m.Grids()
	if len(grids) == 0 && m.Cases {
		_, err := fmt.Fprintln(c.W, "No case of acptap probe was played; see acptap help probe.")
		return err
	}
	if len(grids) == 0 {
		_, err := fmt.Fprintln(c.W, "These tapes do not show what any agent or client offers.")
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
	return writeMatrixLines(c, append(lines, dimLines(unbroken(m.Legend()), c.Width)...))
}

// unbroken returns the legend with non-breaking blanks inside its entries.
func unbroken(legend string) string {
	const between = "   "
	entries := strings.Split(legend, between)
	for i, entry := range entries {
		entries[i] = strings.ReplaceAll(entry, " ", "\u00a0")
	}
	return strings.Join(entries, between)
}

// dimLines returns a text as dim lines of at most width columns.
func dimLines(text string, width int) (lines [][]termtext.Span) {
	for _, line := range termtext.Wrap(text, width) {
		lines = append(lines, termtext.Dim.Line(strings.ReplaceAll(line, "\u00a0", " ")))
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
	return writeMatrixLines(c, dimLines("Not compared (seen in only one version): "+strings.Join(d.NotCompared, "; "), max(c.Width, 60)))
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
