package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/check"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/lake"
	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/redact"
)

// newExportCmd returns the export command. handOver runs acptap-lake in its place.
func newExportCmd(dir *string, handOver func(*cobra.Command) error) *cobra.Command {
	var out, only string
	var force bool
	var e exporting
	var tables lake.Export
	cmd := &cobra.Command{
		Use:   "export [flags] REF...",
		Short: "Write tapes in the portable form, as spans, or as tables",
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
			inFiles := e.nested && e.format == "jsonl"
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
			case e.nested && (sub.Store == nil || sub.Session != ""):
				return fmt.Errorf("--mcp takes a tape of the store, and %q is none", args[0])
			case inFiles:
				return e.exportNested(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), sub, out, force)
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
	cmd.Flags().BoolVar(&e.nested, "mcp", false, "also the servers that the agent started: their spans, or with --output their tapes, a file for each")
	tables.Which.Register(cmd.Flags())
	cmd.Flags().BoolVar(&e.findings, "findings", false, "write what acptap check finds after each frame")
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
	nested   bool // include servers that the agent started
}

// export writes the readable frames of a subject that match. damage joins the errors for
// unreadable parts.
func (x *exporting) export(ctx context.Context, w io.Writer, sub ref.Subject, bar *cli.Progress) (damage, err error) {
	if x.format != "jsonl" {
		return x.exportSpans(ctx, w, sub, bar)
	}
	parts, err := sub.Agents(sub.Parts...)
	if err != nil {
		return nil, err
	}
	info := parts[0].Info
	if sub.Session != "" {
		info.Tape = "" // a session is not the whole tape, so it must not have the tape's ID
	}
	notes, secrets := make([]note.List, len(parts)), make([]*redact.Redaction, len(parts))
	for i, p := range parts {
		if i > 0 {
			info.Rules += p.Info.Rules
			info.Streams += p.Info.Streams
		}
		var bad error
		notes[i], bad = p.Tape.Notes()
		damage = errors.Join(damage, bad)
		if !x.raw {
			secrets[i] = p.Tape.Redaction()
		}
	}
	to, err := portable.NewExporter(w, portable.Head{Tape: info.Tape, Start: info.Start, Needs: info.Needs(), Notes: note.OnTapes(notes...)}, secrets[0])
	if err != nil {
		return damage, err
	}
	match := query.Matcher{Filter: x.want}
	if err := match.Judge(ctx, sub.Tapes()...); err != nil {
		return damage, err
	}
	var found check.Found
	if x.findings {
		if found, err = check.Find(ctx, sub, x.raw, bar); err != nil {
			return damage, err
		}
	}
	for e := range reading.New(parts).Read(ctx) {
		p, f := e.Part, &e.Frame
		switch {
		case e.Err != nil:
			damage = errors.Join(damage, e.Err)
		case e.Kind == reading.Begins:
			to.Notes, to.Secrets = notes[p.Index], secrets[p.Index]
			match.StartTape(p)
		case e.Kind == reading.Read && to.Secrets.Knows(f): // otherwise it was recorded just now
			if bar.Show(int64(f.Seq), int64(p.Info.Lines)); !match.Matches(f) || !p.Holds(f) {
				continue
			}
			err := to.Write(p.Tape, *f)
			if err == nil && found != nil {
				err = writeFindings(to, p.Info.Tape, found[p.Index][f.Seq])
			}
			if err != nil {
				return damage, err
			}
		}
	}
	return damage, cmp.Or(ctx.Err(), to.Close())
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

// checkTables returns an error for flags and arguments that do not apply to an export of
// tables.
func checkTables(given *pflag.FlagSet, tables *lake.Export, args []string) error {
	for _, flag := range []struct{ name, why string }{
		{"filter", "--filter is for frames: --format parquet writes whole tapes"},
		{"findings", "--findings is for --format jsonl, not parquet"},
		{"mcp", "--mcp changes nothing: --format parquet always has the tapes of servers"},
		{"force", "--force changes nothing: --format parquet replaces what was written of a tape before"},
	} {
		if given.Changed(flag.name) {
			return errors.New(flag.why)
		}
	}
	return tables.Check(args)
}

// exportNested writes a tape and its nested tapes to files in a directory, one file per
// tape, and writes their paths to w.
func (x *exporting) exportNested(ctx context.Context, w, stderr io.Writer, sub ref.Subject, out string, force bool) error {
	r, err := sub.Reader(true, sub.Parts...)
	if err != nil {
		return err
	}
	files := nestedFiles(r.Parts, filepath.Join(out, r.Parts[0].Info.Tape))
	for _, file := range files {
		if ref.IsFile(file) && !force {
			return fmt.Errorf("%s exists; --force replaces it", file)
		}
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return err
	}
	var damage error
	for i, file := range files {
		bad, err := x.exportFile(ctx, file, ref.Subject{Store: sub.Store, Parts: []ref.Part{{Tape: r.Parts[i].Tape}}}, stderr)
		if err != nil {
			return err
		}
		damage = errors.Join(damage, bad)
		if _, err := fmt.Fprintln(w, file); err != nil {
			return err
		}
	}
	return damage
}

// exportFile writes a subject to a file; on error it leaves no partial file.
func (x *exporting) exportFile(ctx context.Context, path string, sub ref.Subject, stderr io.Writer) (damage, err error) {
	bar := cli.NewProgress(stderr, path)
	defer bar.End()
	err = disk.WriteFile(path, func(w io.Writer) (err error) {
		damage, err = x.export(ctx, w, sub, bar)
		return err
	})
	return damage, err
}

// nestedFiles returns the files for a tape and all tapes below it: BASE.jsonl, and
// BASE.mcp.NAME.jsonl for the server NAME, as acptap help portable describes.
func nestedFiles(parts []*reading.Part, base string) []string {
	files := []string{base + ".jsonl"}
	for _, p := range parts[1:] {
		name := p.Server
		if above := parts[p.Above]; above.IsServer() {
			name = name[len(above.Server+"+"):]
		}
		file := portable.ServerFile(strings.TrimSuffix(files[p.Above], ".jsonl"), name)
		for slices.Contains(files, file) {
			file = strings.TrimSuffix(file, ".jsonl") + "_.jsonl"
		}
		files = append(files, file)
	}
	return files
}
