package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/check"
	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/portable"
	"github.com/acptap/acptap/record/reading"
)

func newReportCmd(dir *string) *cobra.Command {
	var r reporting
	cmd := &cobra.Command{
		Use:     "report [flags] REF [REF]",
		Aliases: []string{"web", "html"},
		Short:   "Write a tape or session as a page, or two side by side",
		Args:    cli.Operands(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cli.SaveMemory()
			if err := r.parseTurns(); err != nil {
				return err
			}
			if r.limit < 1 || r.limit > 1000 {
				return fmt.Errorf("--limit is 1 to 1000 MiB, not %d", r.limit)
			}
			if r.out == "-" && (r.open || r.follow) {
				return errors.New("--open and --follow want a file, so they do not go with --output -")
			}
			if err := r.checkRuns(args); err != nil {
				return err
			}
			var subjects []ref.Subject
			for _, name := range args {
				sub, err := ref.Resolve(*dir, name, cmd.InOrStdin())
				if err != nil {
					return err
				}
				subjects = append(subjects, sub)
			}
			return r.run(cmd.Context(), subjects, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&r.out, "output", "o", "", "write to this `file`, completely or not at all; - is stdout")
	f.StringVar(&r.title, "title", "", "`text` above the page (default the first prompt)")
	f.StringVar(&r.session, "session", "", "only the session whose `id` begins with this")
	f.StringVar(&r.turns, "turns", "", "tell only of these `turns` of each session, such as 3 or 3..7")
	f.StringVar(&r.filter, "filter", "", "list only frames that match this `query`")
	f.BoolVar(&r.noFrames, "no-frames", false, "leave out the list of frames")
	f.BoolVar(&r.noImages, "no-images", false, "leave out images")
	f.IntVar(&r.limit, "limit", 16, "leave out what would make the page longer than this many `MiB`")
	f.BoolVar(&r.raw, "raw", false, "keep secrets")
	f.BoolVar(&r.open, "open", false, "open the page in the browser")
	f.BoolVar(&r.follow, "follow", false, "write the page again and again until the tape ends")
	return cmd
}

// reporting holds the flags of acptap report.
type reporting struct {
	out, title, session, turns, filter string
	first, last                        int // turns; 0: no limit
	limit                              int // MiB
	raw, open, follow                  bool
	noFrames, noImages                 bool
}

// parseTurns reads 3, 3..7, 3.. or ..7.
func (r *reporting) parseTurns() error {
	if r.turns == "" {
		return nil
	}
	from, to, isRange := strings.Cut(r.turns, "..")
	if !isRange {
		to = from
	}
	for _, n := range []struct {
		text string
		to   *int
	}{{from, &r.first}, {to, &r.last}} {
		if n.text == "" && isRange {
			continue
		}
		v, err := strconv.Atoi(n.text)
		if err != nil || v < 1 {
			return fmt.Errorf("--turns is a number or a range such as 3..7, not %q", r.turns)
		}
		*n.to = v
	}
	if r.first == 0 && r.last == 0 || r.last > 0 && r.first > r.last {
		return fmt.Errorf("--turns %s: there is no turn in it", r.turns)
	}
	return nil
}

// checkRuns returns an error for flags that conflict with two REFs.
func (r *reporting) checkRuns(names []string) error {
	switch {
	case len(names) == 1:
	case names[0] == "-" && names[1] == "-":
		return errors.New("only one REF can be stdin")
	case r.session != "":
		return errors.New("--session goes with one REF; of two, a session is a REF itself, such as sess_1@7k2m9p")
	case r.turns != "":
		return errors.New("--turns goes with one REF: two are compared as a whole")
	case r.follow:
		return errors.New("--follow goes with one REF")
	}
	return nil
}

// run writes the page of one subject or the comparison of two.
func (r *reporting) run(ctx context.Context, subjects []ref.Subject, names []string, stdout, stderr io.Writer) error {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	w := pageWriter{reporting: r, subjects: subjects, path: r.path(subjects), stdout: stdout, stderr: stderr}
	for i := range subjects {
		w.names = append(w.names, frameName(subjects[i], names[i]))
		if err := r.choose(&subjects[i]); err != nil {
			return err
		}
	}
	err := w.first(ctx)
	if err == nil && r.follow {
		err = w.follow(ctx)
	}
	if err != nil {
		return err
	}
	return complainOfParts(stderr, w.broken)
}

// frameName returns a name of the subject for commands on the page. In a store it
// contains the tape's ID, because names such as last change their meaning. Otherwise it
// is name.
func frameName(sub ref.Subject, name string) string {
	tape := sub.Parts[0].Tape.ID()
	switch {
	case sub.Store == nil:
		return name
	case sub.Session != "":
		return sub.Session + "@" + tapetext.ShortID(tape)
	}
	return tapetext.ShortID(tape)
}

// choose narrows the subject to the session in --session.
func (r *reporting) choose(sub *ref.Subject) error {
	if r.session == "" {
		return nil
	}
	_, id, err := ref.OfSession(sub.Tapes(), r.session)
	if err != nil {
		return err
	}
	sub.Session = id
	return nil
}

// path returns the file to write to.
func (r *reporting) path(subjects []ref.Subject) string {
	if r.out != "" {
		return r.out
	}
	name := "acptap"
	for _, sub := range subjects {
		id := tapetext.ShortID(sub.Parts[len(sub.Parts)-1].Tape.ID())
		if id == "" {
			return "acptap-report.html"
		}
		name += "-" + portable.FileName(id)
	}
	return name + ".html"
}

// input returns the data for the page of a subject, and the subject's tapes.
func (r *reporting) input(ctx context.Context, sub ref.Subject, name string, bar *cli.Progress) (in report.Input, tapes *reading.Reader, err error) {
	in = report.Input{Session: sub.Session, First: r.first, Last: r.last, Title: r.title, Raw: r.raw, Ref: name, Version: cli.Version(), NoFrames: r.noFrames, NoImages: r.noImages, Limit: int64(r.limit) << 20}
	if in.Filter, err = query.Parse(r.filter); err != nil {
		return in, nil, err
	}
	found, err := check.Find(ctx, sub, r.raw, bar)
	if err != nil {
		return in, nil, err
	}
	if tapes, err = sub.Reader(false, sub.Parts...); err != nil {
		return in, nil, err
	}
	for _, p := range tapes.Parts {
		t := report.Tape{Info: r.told(p.Info), Frames: r.frames(ctx, p.Tape, &p.Info, bar), Has: p.Has}
		if p.IsServer() {
			in.Servers = append(in.Servers, t)
		} else {
			t.Findings = found[p.Index]
			in.Tapes = append(in.Tapes, t)
		}
	}
	return in, tapes, nil
}

// told returns the tape's information for the page, redacted unless --raw is set.
func (r *reporting) told(info record.Info) record.Info {
	if r.raw {
		return info
	}
	return info.Redacted()
}

// frames yields the frames of a tape until ctx is done.
func (r *reporting) frames(ctx context.Context, t *record.Tape, info *record.Info, bar *cli.Progress) iter.Seq2[dialect.Frame, error] {
	lines := int64(info.Lines)
	return func(yield func(dialect.Frame, error) bool) {
		frames := t.Redacted()
		if r.raw {
			frames = t.Frames(1)
		}
		for f, err := range frames {
			if ctx.Err() != nil {
				return
			}
			if f.Seq%1024 == 0 {
				bar.Show(int64(f.Seq), lines)
			}
			if !yield(f, err) {
				return
			}
		}
	}
}
