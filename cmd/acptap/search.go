package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/termtext"
)

func newSearchCmd(dir *string) *cobra.Command {
	var s show
	var sel tapelist.Selection
	cmd := &cobra.Command{
		Use:   "search [flags] QUERY...",
		Short: "Find frames on all tapes",
		Args:  cli.Operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.flags.Query = queryOf(args)
			if err := cmp.Or(s.parse(), sel.Parse(time.Now())); err != nil {
				return err
			}
			store, err := ref.OpenStore(*dir)
			if err != nil {
				return err
			}
			ctx, stop := cli.UntilSignal(cmd.Context())
			defer stop()
			return s.search(ctx, store, &sel, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&s.asJSON, "json", false, "one JSON object a line")
	sel.Register(cmd.Flags())
	cmd.Flags().StringSliceVar(&sel.Tags, "tag", nil, "only those with this `tag`")
	cmd.Flags().StringVar(&s.color, "color", "auto", "`when` to use colours: auto, always or never")
	return cmd
}

// queryOf joins the arguments into one query. A single argument of several words without
// any syntax is a phrase.
func queryOf(args []string) string {
	query := strings.Join(args, " ")
	if len(args) == 1 && strings.Contains(query, " ") && !strings.ContainsAny(query, "\"`\\:=<>~()|!") {
		return `"` + query + `"`
	}
	return query
}

// search writes the matching frames of the selected tapes.
func (s *show) search(ctx context.Context, store *record.Store, sel *tapelist.Selection, stdout, stderr io.Writer) error {
	bar := cli.NewProgress(stderr, "searching")
	defer bar.End()
	width, color := s.canvas(stdout)
	w := bufio.NewWriterSize(bar.Below(stdout), 64<<10)
	l := findings{w: w, store: store, asJSON: s.asJSON, lines: frametext.Lines{W: w, Width: width, Color: color}}
	var broken []error
	flushed := time.Now()
	progress := func(done, total int64) {
		bar.Show(done, total)
		if now := time.Now(); w.Buffered() > 0 && now.Sub(flushed) > flushEvery {
			w.Flush() // the next write returns the error
			flushed = now
		}
	}
	if words := page.Any(s.match.Filter.Texts()); !words.IsZero() {
		l.lines.Marks = words.In
	}
	tapes := 0
	only := func(i *record.Info) bool {
		if !sel.HasTape(i) {
			return false
		}
		tapes++
		return true
	}
	search := frameindex.Search{Store: store, Filter: s.match.Filter, Only: only, Progress: progress}
	for hit, err := range search.Hits(ctx) {
		switch {
		case ctx.Err() != nil:
			return cmp.Or(w.Flush(), err)
		case err != nil:
			broken = append(broken, err)
			continue
		}
		if err := l.write(hit); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	bar.End()
	if err := complainOfParts(stderr, broken); err != nil || l.tape != "" {
		return err
	}
	ids, err := store.Tapes()
	switch {
	case err != nil:
		return err
	case len(ids) == 0:
		fmt.Fprint(stderr, emptyText(store.Dir()))
	default:
		fmt.Fprintf(stderr, "nothing found in %s\n", termtext.Counted(tapes, "tape"))
	}
	return cli.ErrNo
}

// flushEvery limits how long a match may wait in the buffer.
const flushEvery = 100 * time.Millisecond

// findings writes the matches of a search.
type findings struct {
	w      io.Writer
	asJSON bool
	store  *record.Store
	lines  frametext.Lines
	tape   string // of the last match; empty: none yet
}

func (l *findings) write(hit frameindex.Hit) error {
	headed := l.tape == hit.Tape.Tape
	l.tape = hit.Tape.Tape
	if !headed {
		l.lines.Notes = note.List{}
		if hit.Tape.Notes > 0 {
			l.lines.Notes, _ = l.store.Notes(l.tape) // acptap note reports the error
		}
	}
	if l.asJSON {
		return l.writeJSON(hit)
	}
	if !headed {
		start := hit.Tape.Start.Time
		heading := termtext.Spaced(fmt.Sprintf("tape %s %s %s", l.tape, tapetext.Time(start), tapetext.AgentName(hit.Tape)), tapetext.Tags(hit.Tape.Tags))
		if err := l.lines.Heading(heading); err != nil {
			return err
		}
	}
	return l.lines.WriteTimed(&hit.Subject)
}

func (l *findings) writeJSON(hit frameindex.Hit) error {
	b, err := frametext.JSON(&hit.Subject, hit.Tape.Start.Time)
	if err != nil {
		return err
	}
	tape, err := json.Marshal(l.tape)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.w, "{\"tape\":%s,%s\n", tape, frametext.AddNotes(b, l.lines.Notes.On(hit.Frame.Seq))[1:])
	return err
}
