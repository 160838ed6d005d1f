package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/record"
)

// followStore shows the newest tape of a store, waiting for the first one if there is
// none. If endless is set, it then shows each tape that begins later.
func (s *show) followStore(ctx context.Context, dir string, endless bool, stdout, stderr io.Writer) error {
	store, err := ref.OpenStore(dir)
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(store.Watch(ctx, nil))
	defer stop()
	coming := comingTapes{ctx: ctx, store: store, stderr: stderr, next: next}
	tape, err := coming.newest()
	for first := true; ; first = false {
		if err != nil {
			return err
		}
		if !first && !s.asJSON {
			_, color := s.canvas(stdout)
			lines := frametext.Lines{W: stdout, Color: color}
			if err := lines.Heading("tape " + tape.ID()); err != nil {
				return err
			}
		}
		err = s.run(ctx, ref.Subject{Store: store, Parts: []ref.Part{{Tape: tape}}}, stdout, stderr)
		if !endless || err != nil && !errors.Is(err, cli.ErrNo) {
			return err
		}
		tape, err = coming.following()
	}
}

// comingTapes yields the tapes of a store in the order in which they begin.
type comingTapes struct {
	ctx    context.Context
	store  *record.Store
	stderr io.Writer
	next   func() (record.Change, error, bool)
}

// newest returns the newest existing tape or, if there is none, the first one that
// begins. It skips tapes nested in others.
func (c *comingTapes) newest() (*record.Tape, error) {
	var ids []string
	for {
		change, err, ok := c.next()
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, c.ctx.Err()
		case change.Kind == record.TapeAppeared:
			ids = append(ids, change.Tape)
		case change.Kind == record.StoreLooked:
			for id := range c.store.Outer(ids) {
				tape, err := c.store.Open(id)
				if !errors.Is(err, record.ErrNoTape) { // otherwise it has already been deleted
					return tape, err
				}
			}
			return c.wait("first", c.isNested)
		}
	}
}

// following returns the next tape that begins. It skips nested tapes, and imported ones,
// which began long ago.
func (c *comingTapes) following() (*record.Tape, error) {
	return c.wait("next", func(tape *record.Tape) bool {
		info, err := tape.Info()
		return err == nil && info.Imported || c.isNested(tape)
	})
}

func (c *comingTapes) isNested(tape *record.Tape) bool { return c.store.IsNested(tape.ID()) }

// wait waits for the next tape, skipping those for which passes returns true. On a
// terminal it says that it is waiting.
func (c *comingTapes) wait(which string, passes func(*record.Tape) bool) (*record.Tape, error) {
	told := !cli.IsTerminal(c.stderr)
	for {
		change, err, ok := c.next()
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, c.ctx.Err()
		case change.Kind == record.StoreLooked && !told:
			told = true
			fmt.Fprintf(c.stderr, "waiting for the %s tape in %s\n", which, c.store.Dir())
		case change.Kind == record.TapeAppeared:
			tape, err := c.store.Open(change.Tape)
			if err == nil && !passes(tape) {
				return tape, nil
			}
			if err != nil && !errors.Is(err, record.ErrNoTape) { // otherwise it has already been deleted
				return nil, err
			}
		}
	}
}
