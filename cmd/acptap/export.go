package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/check"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/lake"
	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/redact"
)

// newExportCmd returns the export command. handOver runs acptap-lake in its place.
func newExportCmd(dir *string, handOver func(*cobra.Command) error) *cobra.Command {
	var out, only string
	var force, nested bool
	var e exporting
	var tables lake.Export
	cmd := &cobra.Command{
		Use:   "export [flags] REF...",
		Short: "Write tapes in the portable form, as spans, or as tables",
		Long: `Writes a tape or a session as JSON Lines, for git, bug reports, tests and jq: a
header, then one line for each frame. Every command that takes a REF takes such
a file. See acptap help portable.

Secrets that it finds are replaced by [redacted]: authorization and cookie
headers, env of MCP servers, what nobody can guess in the paths of their URLs,
login parameters, tokens. A frame of more than 12 MiB is left out. Some secrets
are missed, so read the file before you publish it.

With --findings, what acptap check finds in a frame stands behind it, in lines
{"finding":{...}} with the members of acptap check --json. Who reads the file
passes over them.

With --mcp, the tapes of the MCP servers that the agent started are written too,
each to a file of its own in the directory of --output, and the paths of all of
them are listed. acptap import takes that directory.

With --format otlp or perfetto, spans are written instead: a turn with its tool
calls, permissions and calls is a trace, and the connection another. otlp is
OTLP/JSON, one request a line, with --signals also metrics and logs; perfetto
is JSON of trace events, which speedscope opens. --mcp adds those of the servers
that the agent started.
Nothing that was said is in spans, and no title or path, unless --content asks
for them; then secrets are replaced there too. See acptap help spans.

With --format parquet, tables of turns, tool calls, calls and frames are written
for DuckDB, ClickHouse and others, of whole tapes: of several REFs, or of those
that --all, --agent and --since select. --output is a directory then, or a URL
s3://BUCKET/PREFIX as acptap push has it. See acptap help tables.

With --filter, only frames that match are written, with their numbers on the
tape; see acptap help filters. If a session spans several tapes, the numbers are
those of the first.
` + ref.Help + `

Exit status 0; 2 if REF cannot be read, or if a damaged part of it was left out.`,
		Example: `  acptap export last > bug.jsonl
  acptap export -o testdata/fix.jsonl 7k2m9p
  acptap export --filter 'session:0193 !update:*_chunk' last > session.jsonl
  acptap export --findings last | jq 'select(.finding.strength == "violation")'
  acptap export --mcp -o bug-7 last
  acptap export --format otlp last >> spans.jsonl
  acptap export --format perfetto --mcp -o trace.json last
  acptap export --format parquet -o lake --since 7d
  acptap export --raw last | jq 'select(.frame.method == "session/prompt")'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if e.format != "otlp" && cmd.Flags().Changed("signals") {
				return fmt.Errorf("--signals is for --format otlp, not %s", e.format)
			}
			if e.format == lake.Parquet {
				tables.Output, tables.Content, tables.Raw = out, e.content, e.raw
				if err := checkTables(cmd.Flags(), &tables, args); err != nil {
					return err
				}
				return handOver(cmd)
			}
			if tables.Which.Flagged() {
				return fmt.Errorf("--all, --agent and --since are for --format %s: %s is written from one REF", lake.Parquet, e.format)
			}
			if err := cli.Operands(1, 1)(cmd, args); err != nil {
				return err
			}
			if err := e.checkFormat(only != ""); err != nil {
				return err
			}
			inFiles := nested && e.format == "jsonl"
			if inFiles && (out == "" || out == "-") {
				return errors.New("--mcp writes several files: name a directory for them with --output")
			}
			if out != "-" && ref.IsFile(out) && !force {
				return fmt.Errorf("%s exists; --force replaces it", out)
			}
			var err error
			if e.want, err = query.Parse(only); err != nil {
				return err
			}
			sub, err := ref.Resolve(*dir, args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			switch {
			case nested && (sub.Store == nil || sub.Session != ""):
				return fmt.Errorf("--mcp takes a tape of the store, and %q is none", args[0])
			case inFiles:
				return e.exportNested(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), sub, out, force)
			case nested:
				if sub.Parts, err = withServers(sub); err != nil {
					return err
				}
			}
			var damage error
			if out == "" || out == "-" {
				damage, err = e.export(cmd.Context(), cmd.OutOrStdout(), sub, cli.NewProgress(nil, ""))
				return errors.Join(err, damage)
			}
			damage, err = e.exportFile(cmd.Context(), out, sub, cmd.ErrOrStderr())
			return errors.Join(err, damage)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file`, completely or not at all; with --mcp or parquet a directory")
	cmd.Flags().StringVar(&e.format, "format", "jsonl", "`format` to write: jsonl (frames), otlp or perfetto (spans), parquet (tables)")
	cmd.Flags().StringVar(&e.list, "signals", "traces", "in otlp: `list` of what to write, of traces, metrics and logs")
	cmd.Flags().BoolVar(&e.content, "content", false, "in spans and tables: also what was said, titles and paths")
	cmd.Flags().BoolVar(&force, "force", false, "with --output: replace an existing file")
	cmd.Flags().StringVar(&only, "filter", "", "only frames that match this `query`")
	cmd.Flags().BoolVar(&e.raw, "raw", false, "keep secrets and frames of any length")
	cmd.Flags().BoolVar(&nested, "mcp", false, "also the servers that the agent started: their spans, or with --output their tapes, a file for each")
	tables.Which.Register(cmd.Flags())
	cmd.Flags().BoolVar(&e.findings, "findings", false, "write what acptap check finds behind each frame")
	return cmd
}

// exporting holds the flags of acptap export.
type exporting struct {
	format   string
	list     string        // what to write in otlp
	signals  []otlp.Signal // parsed from list
	want     filter.Filter
	raw      bool
	content  bool // include it in spans
	findings bool
}

// export writes the readable frames of a subject that match. damage joins the errors for
// parts that cannot be read.
func (x *exporting) export(ctx context.Context, w io.Writer, sub ref.Subject, bar *cli.Progress) (damage, err error) {
	if x.format != "jsonl" {
		return x.exportSpans(ctx, w, sub, bar)
	}
	info, err := sub.Parts[0].Tape.Info()
	if err != nil {
		return nil, err
	}
	if sub.Session != "" {
		info.Tape = "" // a session is not the whole tape, so it must not have the tape's ID
	}
	for _, p := range sub.Parts[1:] {
		more, err := p.Tape.Info()
		if err != nil {
			return nil, err
		}
		info.Rules += more.Rules
		info.Streams += more.Streams
	}
	notes := make([]note.List, len(sub.Parts))
	for i, p := range sub.Parts {
		var bad error
		notes[i], bad = p.Tape.Notes()
		damage = errors.Join(damage, bad)
	}
	secrets := make([]*redact.Redaction, len(sub.Parts))
	for i, p := range sub.Parts {
		if !x.raw {
			secrets[i] = p.Tape.Redaction()
		}
	}
	e, err := portable.NewExporter(w, portable.Head{Tape: info.Tape, Start: info.Start, Needs: info.Needs(), Notes: note.OnTapes(notes...)}, secrets[0])
	if err != nil {
		return damage, err
	}
	match := query.Matcher{Filter: x.want}
	if err := match.Judge(ctx, sub); err != nil {
		return damage, err
	}
	var found check.Found
	if x.findings {
		if found, err = check.Find(ctx, sub, x.raw, bar); err != nil {
			return damage, err
		}
	}
	for i, p := range sub.Parts {
		e.Notes, e.Secrets = notes[i], secrets[i]
		info, err := p.Tape.Info()
		if err != nil {
			return damage, err
		}
		match.StartTape(p, info)
		for f, err := range p.Tape.Frames(max(p.Run.First, 1)) {
			if err != nil {
				damage = errors.Join(damage, err)
				continue
			}
			if !secrets[i].Knows(&f) {
				break
			}
			bar.Show(int64(f.Seq), int64(info.Lines))
			if !match.Matches(&f) || !sub.Has(p, &f) {
				continue
			}
			if err := e.Write(p.Tape, f); err != nil {
				return damage, err
			}
			if found == nil {
				continue
			}
			if err := writeFindings(e, info.Tape, found[i][f.Seq]); err != nil {
				return damage, err
			}
		}
	}
	return damage, e.Close()
}

// writeFindings writes the findings about the frame written last.
func writeFindings(e *portable.Exporter, tape string, found []*report.Finding) error {
	for _, f := range found {
		text, err := json.Marshal(report.LineOf(tape, f))
		if err != nil {
			return err
		}
		if err := e.WriteFinding(text); err != nil {
			return err
		}
	}
	return nil
}
