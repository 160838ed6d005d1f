package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/terminal"
	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/portable"
)

func newExportCmd(dir *string) *cobra.Command {
	var out, query string
	var raw, force bool
	cmd := &cobra.Command{
		Use:   "export [flags] REF",
		Short: "Write a tape or session in the portable form",
		Long: `Writes a tape, or a session, as JSON Lines: a header, then one line for each
frame, for git, bug reports, tests and jq. Every command that takes a tape takes
such a file too. Secrets (authorization and cookie headers, env values of MCP
servers, login parameters, tokens) are replaced by [redacted], and a frame of
more than 64 MiB is left out; look through the file before you publish it.

With --filter only the frames that fit are written, with the numbers that they
have on the tape; acptap show --help tells of the language. Who reads the file
sees the same numbers; of a session that ran over several tapes, those on the
first.
` + refHelp + `

Exit status 0; 2 if REF cannot be read, or a part of it is damaged and left out.`,
		Example: `  acptap export last > bug.jsonl
  acptap export -o testdata/fix.jsonl 7k2m9p
  acptap export --filter 'session:0193 !update:*_chunk' last > session.jsonl
  acptap export --raw last | jq 'select(.frame.method == "session/prompt")'`,
		Args: operands(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "-" && isFile(out) && !force {
				return fmt.Errorf("%s is there already; --force replaces it", out)
			}
			want, err := parseFilter(query)
			if err != nil {
				return err
			}
			sub, err := resolve(*dir, args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			var damage error
			if out == "" || out == "-" {
				damage, err = export(cmd.OutOrStdout(), sub, want, raw, terminal.NewProgress(nil, ""))
				return errors.Join(err, damage)
			}
			bar := terminal.NewProgress(cmd.ErrOrStderr(), out)
			defer bar.End()
			err = disk.WriteFile(out, func(w io.Writer) (err error) {
				damage, err = export(w, sub, want, raw, bar)
				return err
			})
			return errors.Join(err, damage)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this `file`, whole or not at all")
	cmd.Flags().BoolVar(&force, "force", false, "with --output: replace a file that is there")
	cmd.Flags().StringVar(&query, "filter", "", "only frames that fit this `query`")
	cmd.Flags().BoolVar(&raw, "raw", false, "keep secrets")
	return cmd
}

// export writes what is wanted and can be read of a subject. damage tells what
// could not be read.
func export(w io.Writer, sub subject, want filter.Filter, raw bool, bar *terminal.Progress) (damage, err error) {
	info, err := sub.Parts[0].Tape.Info()
	if err != nil {
		return nil, err
	}
	if sub.Session != "" {
		info.Tape = "" // a part of a tape, or of several, is none of them
	}
	e, err := portable.NewExporter(w, info.Tape, info.Start, raw)
	if err != nil {
		return nil, err
	}
	match := frameMatcher{Filter: want}
	for _, p := range sub.Parts {
		info, err := p.Tape.Info()
		if err != nil {
			return damage, err
		}
		match.startTape(p, info.Start.Time)
		for f, err := range p.Tape.Frames(max(p.Run.First, 1)) {
			if err != nil {
				damage = errors.Join(damage, err)
				continue
			}
			bar.Show(int64(f.Seq), int64(info.Lines))
			if !match.matches(&f) || !sub.has(p, &f) {
				continue
			}
			if err := e.Write(p.Tape, f); err != nil {
				return damage, err
			}
		}
	}
	return damage, e.Close()
}
