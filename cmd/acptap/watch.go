package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace/nested"
)

func newWatchCmd(dir *string) *cobra.Command {
	var w watcher
	var command string
	cmd := &cobra.Command{
		Use:   "watch [REF]",
		Short: "Report what hangs while tapes are recorded",
		Args:  cli.Operands(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkAfter("after", w.After); err != nil {
				return err
			}
			ctx, stop := cli.UntilSignal(cmd.Context())
			defer stop()
			stderr := &cli.Warnings{Stderr: cmd.ErrOrStderr()}
			defer stderr.Wait()
			w.Out = cmd.OutOrStdout()
			w.Trouble = func(err error) { stderr.Print("%v", err) }
			store, err := ref.OpenStore(*dir)
			if err != nil {
				return err
			}
			if command != "" {
				w.Exec = newStallHook(ctx, command, []string{"ACPTAP_STORE=" + store.Dir()}, w.Trouble)
				defer w.Exec.Close()
			}
			if len(args) == 0 {
				return watchStore(ctx, &w, store, cmd)
			}
			sub, err := ref.Resolve(*dir, args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			w.Session, w.store = sub.Session, sub.Store
			return w.Tape(ctx, sub.Parts[len(sub.Parts)-1].Tape)
		},
	}
	f := cmd.Flags()
	f.DurationVar(&w.After, "after", stall.DefaultAfter, "how long an agent may be silent, a `time` such as 30s")
	f.StringVar(&command, "exec", "", "`command` to run when something starts to hang")
	f.BoolVar(&w.AsJSON, "json", false, "one JSON object a line")
	return cmd
}

// watchStore watches all tapes of a store. On a terminal it first says so.
func watchStore(ctx context.Context, w *watcher, store *record.Store, cmd *cobra.Command) error {
	if cli.IsTerminal(cmd.ErrOrStderr()) {
		fmt.Fprintf(cmd.ErrOrStderr(), "watching the tapes that are recorded in %s\n", store.Dir())
	}
	return w.Store(ctx, store)
}

// checkAfter returns an error if a flag's duration is too short or too long to measure.
func checkAfter(flag string, after time.Duration) error {
	if after < 100*time.Millisecond || after > 30*24*time.Hour {
		return fmt.Errorf("--%s is from 100ms to 720h, not %v", flag, after)
	}
	return nil
}

// startWatch watches the tape that this process records. It returns nil if there is no
// store.
func startWatch(dir string, journal *record.Recorder, after time.Duration, w *cli.Warnings) *ownWatch {
	store, err := ref.OpenStore(dir)
	if err != nil {
		w.Print("--watch: %v", err)
		return nil
	}
	return startOwnWatch(store, journal, after, w.Print)
}

// A watcher writes a line when something begins to hang, and another when it resumes.
type watcher struct {
	Out     io.Writer
	AsJSON  bool
	After   time.Duration // silence that counts as a stall
	Session string        // report only stalls of this session; empty: of all
	Exec    *stallHook    // called for each new stall; may be nil
	Trouble func(error)   // called for what cannot be read; watching continues

	servers map[string]*serverWatch // tapes that are being recorded, by id; watch_servers.go

	store *record.Store                          // has the tapes of servers; nil: none has
	state func(tape string) (record.Info, error) // returns what is known about a tape so far
	err   error                                  // first error of writing
}

// Store watches all live tapes of a store until ctx is done.
func (w *watcher) Store(ctx context.Context, store *record.Store) error {
	w.store = store
	w.state = func(id string) (record.Info, error) {
		tape, err := store.Open(id)
		if err != nil {
			return record.Info{}, err
		}
		return tape.Info()
	}
	tapes := stall.Tapes{Store: store, After: w.After}
	return w.each(store.Watch(ctx, tapes.Wanted), func(c *record.Change) {
		tapes.Take(c, time.Now(), w.tell)
		w.look(c.Tape, c)
	})
}

// Tape watches one tape until it ends or ctx is done. For a tape that has already ended it
// reports every stall on it.
func (w *watcher) Tape(ctx context.Context, tape *record.Tape) error {
	info, err := tape.Info()
	if err != nil {
		return err
	}
	w.state = func(string) (record.Info, error) { return tape.Info() }
	t := stall.NewTape(info, w.After)
	t.Past = !info.Live
	w.tell(t, record.TapeAppeared, nil)
	return w.each(tape.Watch(ctx, 1), func(c *record.Change) {
		w.tell(t, c.Kind, t.Take(c, time.Now()))
		w.look(info.Tape, c)
	})
}

func (w *watcher) each(changes iter.Seq2[record.Change, error], take func(*record.Change)) error {
	for c, err := range changes {
		if err != nil {
			w.Trouble(err)
			continue
		}
		if take(&c); w.err != nil {
			return w.err
		}
	}
	return nil
}

// A watchLine is one line of output, as --json writes it.
type watchLine struct {
	Event   string    `json:"event" help:"watching, hangs, over, ended, or uncalled after ended"`
	Time    time.Time `json:"time" help:"RFC 3339"`
	Tape    string    `json:"tape" help:"id"`
	Agent   string    `json:"agent" help:"what the agent is called"`
	Kind    string    `json:"kind,omitempty" help:"as above"`
	Session string    `json:"session,omitempty" help:"id"`
	Turn    int       `json:"turn,omitempty" help:"number of the turn in it, from 1"`
	Frame   uint64    `json:"frame,omitempty" help:"number of the frame since which it hangs"`
	By      uint64    `json:"by,omitempty" help:"of over: number of the frame that ended it"`
	Seconds float64   `json:"seconds,omitempty" help:"for how long it has hung by then"`
	Text    string    `json:"text" help:"what the line says"`

	bad bool // it ended badly
}

// tell writes the lines for changes of a tape.
func (w *watcher) tell(t *stall.Tape, kind record.ChangeKind, changes []stall.Change) {
	w.follow(t, kind)
	if kind == record.TapeAppeared && !t.Past {
		w.write(t, watchLine{Event: "watching", Time: t.Info.Start.Time, Text: "watching"})
	}
	for _, c := range changes {
		if w.Session != "" && c.Session != "" && c.Session != w.Session {
			continue
		}
		l := watchLine{
			Event: "hangs", Time: t.Time(c.At), Kind: c.Kind.String(), Session: c.Session, Turn: c.Turn,
			Frame: c.Frame, By: c.By, Seconds: termtext.Seconds(c.At - c.Since).Float(), Text: c.Text,
		}
		switch {
		case c.Over && !w.AsJSON && kind == record.TapeEnded && c.Kind == stall.Gone:
			continue // the line for the end of the tape says so
		case c.Over:
			l.Event = "over"
		}
		if w.write(t, l); !c.Over && w.Exec != nil {
			w.Exec.Run(t.Info.Tape, &c)
		}
	}
	if kind == record.TapeEnded {
		text, at, bad := "ended", time.Now(), false
		if info, err := w.state(t.Info.Tape); err == nil {
			if o := info.Outcome(); o.How != dialect.Done {
				text, bad = text+": "+tapetext.OutcomeSpan(o).Text, o.How.IsBad()
			}
			if !info.Ended.IsZero() {
				at = info.Ended
			}
		}
		w.write(t, watchLine{Event: "ended", Time: at, Text: text, bad: bad})
		for _, u := range w.uncalled(t.Info.Tape) {
			w.write(t, watchLine{Event: "uncalled", Time: at, Text: u.Line()})
		}
	}
}

// uncalled returns the servers that the agent of a tape never called.
func (w *watcher) uncalled(id string) []nested.Uncalled {
	if w.store == nil {
		return nil
	}
	tape, err := w.store.Open(id)
	if err != nil {
		return nil // deleted since
	}
	parts, err := reading.Agents(tape)
	if err != nil {
		return nil // already reported
	}
	parts[0].Store, parts[0].Session = w.store, w.Session
	list, _, err := reading.Uncalled(parts[0])
	if err != nil {
		w.Trouble(err)
	}
	return list
}

func (w *watcher) write(t *stall.Tape, l watchLine) {
	if w.err != nil {
		return
	}
	l.Tape, l.Agent = t.Info.Tape, t.Agent()
	if w.AsJSON {
		w.err = cli.WriteJSON(w.Out, l)
		return
	}
	var line []termtext.Span
	if !t.Info.Start.Time.IsZero() { // otherwise the time of day is unknown
		line = append(line, termtext.Dim.Span(l.Time.Local().Format(time.TimeOnly)+"  "))
	}
	line = append(line, termtext.Bold.Span(tapetext.ShortID(l.Tape)), termtext.Plain.Span(" "+termtext.Piece(l.Agent)+"  "), l.style().Span(l.Text))
	_, w.err = fmt.Fprintln(w.Out, termtext.SpansText(line, cli.TakesColor(w.Out)))
}

// style returns the style of what a line says.
func (l *watchLine) style() termtext.Style {
	switch {
	case l.bad || l.Event == "hangs" && l.Kind == stall.Gone.String():
		return termtext.Failure
	case l.Event == "hangs":
		return termtext.Slow
	}
	return termtext.Plain
}
