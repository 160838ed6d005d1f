package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// A watcher writes a line when something begins to hang, and another when it continues.
type watcher struct {
	Out     io.Writer
	AsJSON  bool
	After   time.Duration // silence that counts as a stall
	Session string        // only report stalls of this session; empty: of all
	Exec    *stallHook    // called for each new stall; may be nil
	Trouble func(error)   // called for what cannot be read; watching continues

	state func(tape string) (record.Info, error) // returns what is known of a tape so far
	err   error                                  // first error of writing
}

// Store watches all live tapes of a store until ctx is done.
func (w *watcher) Store(ctx context.Context, store *record.Store) error {
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
	Event   string    `json:"event" help:"watching, hangs, over or ended"`
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
}

// tell writes the lines for changes of a tape.
func (w *watcher) tell(t *stall.Tape, kind record.ChangeKind, changes []stall.Change) {
	if kind == record.TapeAppeared && !t.Past {
		w.write(t, watchLine{Event: "watching", Time: t.Info.Start.Time, Text: "watching"})
	}
	for _, c := range changes {
		if w.Session != "" && c.Session != "" && c.Session != w.Session {
			continue
		}
		l := watchLine{
			Event: "hangs", Time: t.Time(c.At), Kind: c.Kind.String(), Session: c.Session, Turn: c.Turn,
			Frame: c.Frame, By: c.By, Seconds: (c.At - c.Since).Seconds(), Text: c.Text,
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
		text, at := "ended", time.Now()
		if info, err := w.state(t.Info.Tape); err == nil {
			if state := tapetext.State(info); info.Outcome().How.IsBad() {
				text += ": " + state
			}
			if !info.Ended.IsZero() {
				at = info.Ended
			}
		}
		w.write(t, watchLine{Event: "ended", Time: at, Text: text})
	}
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
	_, w.err = fmt.Fprintf(w.Out, "%s %s  %s\n", tapetext.ShortID(l.Tape), termtext.Piece(l.Agent), l.Text)
}
