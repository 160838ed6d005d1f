package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/matrix"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

func newMatrixCmd(dir *string) *cobra.Command {
	m := matrixFlags{which: tapelist.Subjects{Everything: true}, side: "agent", format: "table"}
	cmd := &cobra.Command{
		Use:   "matrix [flags] [REF... | VERSION VERSION]",
		Short: "Show what agents can do, or what a new version does worse",
		Long: `Shows what each version of each agent can do, by the evidence of tapes: of all
that are in the store, or of those that are given. A row is an agent and its
version as it calls itself, a column a capability:

  ✓  offered, and it worked         !  offered, and broken: answered -32601, or
  ·  offered, never used               against the protocol (acptap check)
  ✗  used without being offered     ?  only failed, and the cause is not clear

A blank says that it is neither offered nor used. --side client shows clients.

With two versions it says what the second one does worse than the first: what is
gone or broken, which rules of acptap check it breaks that the first one kept,
stop reasons and errors that are new, and what takes twice as long (the middle
of first output, session/new and turn, with 20 of each on both sides). Only what
both had occasion for is compared. A version is NAME@VERSION, whose VERSION may
be the beginning of one, or @REF, for what a single tape shows:

  acptap matrix my-agent@1.4 my-agent@1.5
  acptap matrix @last~1 @last
` + ref.Help + `

--format json gives one object for each row: protocol, side (agent or client),
name, version, tapes, frames, and capabilities: for each of them mark (works,
unused, broken, unclear, unoffered), connections and offered (on how many of
these it was offered), worked, missing (-32601), failed, findings, rules, first
(tape and frame that show it) and tapes. For two versions it is one object:
before and after (NAME@VERSION), worse and other (kind: capability, rule, stop,
error or time; what, from, to, at), notCompared.

Exit status 0; 1 if the second version does something worse; 2 if a tape cannot
be read.`,
		Example: `  acptap matrix
  acptap matrix --side client --since 30d
  acptap matrix --format html > matrix.html
  acptap matrix my-agent@1.4.0 my-agent@1.5.0`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := m.parse(); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			r := matrixRun{matrixFlags: &m, ctx: ctx, dir: *dir, in: cmd.InOrStdin(), out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
			return r.run(args)
		},
	}
	f := cmd.Flags()
	m.which.Register(f)
	f.StringVar(&m.side, "side", m.side, "whose capabilities, by `side`: agent or client")
	f.StringVar(&m.dialect, "dialect", "", "only tapes of this `dialect`: v1, v2-early, v2, legacy or modern")
	f.StringVar(&m.format, "format", m.format, "output `format`: table, markdown, html or json")
	return cmd
}

// matrixFlags holds the flags.
type matrixFlags struct {
	which                 tapelist.Subjects
	side, dialect, format string

	of   dialect.Side
	only dialect.Dialect
}

func (m *matrixFlags) parse() error {
	switch m.side {
	case "agent":
		m.of = dialect.AgentSide
	case "client":
		m.of = dialect.ClientSide
	default:
		return fmt.Errorf("--side %q is neither agent nor client", m.side)
	}
	switch m.format {
	case "table", "markdown", "html", "json":
	default:
		return fmt.Errorf("--format %q is none of table, markdown, html and json", m.format)
	}
	if m.dialect != "" {
		if err := m.only.UnmarshalText([]byte(m.dialect)); err != nil {
			return fmt.Errorf("--dialect: %w", err)
		}
	}
	return nil
}

// A matrixRun is one call of the command.
type matrixRun struct {
	*matrixFlags
	ctx      context.Context
	dir      string
	in       io.Reader
	out, err io.Writer

	broken int // tapes that cannot be read completely
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

// end returns err, or an error if some tapes could not be read completely.
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

// read returns the matrix of the named tapes, or if there are none, of the selected tapes
// of the store.
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
	for _, err := range broken {
		cli.Warn(r.err, "%v", err)
	}
	r.broken += len(broken)
	return m, nil
}

func (r *matrixRun) tapes(names []string) (tapes []*record.Tape, err error) {
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
			tapes = append(tapes, t)
		}
	}
	return tapes, nil
}
