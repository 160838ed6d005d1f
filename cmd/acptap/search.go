package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/inspect"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

func newSearchCmd(dir *string) *cobra.Command {
	var s show
	cmd := &cobra.Command{
		Use:   "search [flags] QUERY...",
		Short: "Find frames on all tapes",
		Long: `Looks for frames on all tapes of the store, the newest first, and shows those
that fit QUERY, one line each as acptap show does. Several arguments are one
query with blanks between them.
` + strings.Replace(filterHelp, "--filter takes", "QUERY is", 1) + `
Exit status 0; 1 if nothing is found; 2 if a tape, or a part of it, cannot be
read, and if it is interrupted.`,
		Example: `  acptap search no such file
  acptap search '"connection refused" !kind:stderr'
  acptap search 'latency:>10s | is:error'
  acptap search --json method:fs/write_text_file | jq -r .frame.params.path`,
		Args: operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.picks.query = strings.Join(args, " ")
			if err := s.parse(); err != nil {
				return err
			}
			store, err := openStore(*dir)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return s.search(ctx, store, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&s.asJSON, "json", false, "one JSON object a line")
	cmd.Flags().StringVar(&s.color, "color", "auto", "`when` to use colours: auto, always or never")
	return cmd
}

// search shows what is wanted of all tapes.
func (s *show) search(ctx context.Context, store *record.Store, stdout, stderr io.Writer) error {
	list, err := store.List()
	if err != nil {
		return err
	}
	bar := newProgress(stderr, "searching")
	defer bar.end()
	width, color := s.canvas(stdout)
	h := hunt{
		show: s,
		form: inspect.Lines{Width: width, Color: color},
		w:    bufio.NewWriterSize(&below{stdout, bar}, 64<<10),
		bar:  bar,
	}
	h.form.W = h.w
	for _, info := range list.Tapes {
		h.total += info.Bytes
	}
	for _, info := range slices.Backward(list.Tapes) {
		err = h.tape(ctx, store, info)
		if err = cmp.Or(h.w.Flush(), err); err != nil {
			return err
		}
	}
	bar.end()
	for _, err := range h.broken {
		fmt.Fprintf(stderr, "acptap: %v\n", err)
	}
	err = complain(stderr, list.Broken)
	switch {
	case err != nil:
		return err
	case len(h.broken) > 0:
		return fmt.Errorf("%s cannot be read; acptap doctor says more", count(uint64(len(h.broken)), "part"))
	case h.found == 0:
		return errNo
	}
	return nil
}

// A below writes where the progress stood, which comes again by itself.
type below struct {
	io.Writer
	bar *progress
}

func (b *below) Write(p []byte) (int, error) {
	b.bar.end()
	return b.Writer.Write(p)
}

// A hunt is a search on its way through the tapes.
type hunt struct {
	*show
	form        inspect.Lines // of each tape
	w           *bufio.Writer
	bar         *progress
	done, total int64 // bytes of tapes
	found       int
	broken      []error
}

// tape shows what is wanted of one tape.
func (h *hunt) tape(ctx context.Context, store *record.Store, info record.Info) error {
	done := h.done
	defer func() { h.done = done + info.Bytes }()
	t, err := store.Open(info.Tape)
	if errors.Is(err, record.ErrNoTape) {
		return nil // deleted meanwhile
	}
	if err != nil {
		h.broken = append(h.broken, err)
		return nil
	}
	p := part{Tape: t}
	lines, headed := h.form, h.asJSON
	from, err := h.first(ctx, p, info, &lines)
	if err != nil || from == 0 {
		return err
	}
	h.want.next(p, info.Start.Time)
	for f, err := range t.Frames(h.want.from(p, from)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			h.trouble(err)
			continue
		}
		if h.done += f.Size; f.Seq%256 == 0 { // the clock takes as long as a small frame
			h.bar.show(h.done, h.total)
		}
		if !h.want.wants(&f) {
			lines.Pass(&f)
			continue
		}
		if h.found++; !headed {
			headed = true
			err = lines.Heading(fmt.Sprintf("tape %s %s %s", info.Tape, timeText(info.Start.Time), agentText(info)))
		}
		if err = cmp.Or(err, h.write(&f, &lines, info)); err != nil {
			return err
		}
	}
	return nil
}

// first returns the first frame that may be wanted, 0 if there is none: to know
// that, most queries need the fields only, and these are a small part of a tape.
// lines passes those before it, unless they are read once more.
func (h *hunt) first(ctx context.Context, p part, info record.Info, lines *inspect.Lines) (uint64, error) {
	h.want.next(p, info.Start.Time)
	for f, err := range p.Tape.Rows(1) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if err != nil || h.want.may(&f) { // with the bytes the error comes again
			return max(f.Seq, 1), nil
		}
		if !h.want.NeedsPast() {
			lines.Pass(&f)
		}
	}
	return 0, nil
}

func (h *hunt) write(f *dialect.Frame, lines *inspect.Lines, info record.Info) error {
	if !h.asJSON {
		return lines.Write(f)
	}
	b, err := inspect.JSON(*f, info.Start.Time)
	if err != nil {
		return err
	}
	tape, err := json.Marshal(info.Tape)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(h.w, "{\"tape\":%s,%s\n", tape, b[1:])
	return err
}

func (h *hunt) trouble(err error) {
	if !errors.Is(err, record.ErrNoTape) { // or it was deleted meanwhile
		h.broken = append(h.broken, err)
	}
}
