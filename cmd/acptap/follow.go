package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect"
	"github.com/acptap/acptap/record"
)

// followStore shows the newest tape of a store, waiting for the first one if
// there is none; without end, then each tape that begins later.
func (s *show) followStore(ctx context.Context, dir string, endless bool, stdout, stderr io.Writer) error {
	store, err := openStore(dir)
	if err != nil {
		return err
	}
	ids, err := store.Tapes()
	if err != nil {
		return err
	}
	var id, shown string
	if n := len(ids); n > 0 {
		id = ids[n-1]
	} else if id, err = nextTape(ctx, store, "", stderr); err != nil {
		return err
	}
	for {
		tape, err := store.Open(id)
		if err != nil {
			return err
		}
		if shown != "" && !s.asJSON {
			_, color := s.canvas(stdout)
			lines := inspect.Lines{W: stdout, Color: color}
			if err := lines.Heading("tape " + id); err != nil {
				return err
			}
		}
		err = s.run(ctx, subject{Parts: []part{{Tape: tape}}}, stdout, stderr)
		if !endless || err != nil && !errors.Is(err, errNo) {
			return err
		}
		shown = id
		if id, err = nextTape(ctx, store, shown, stderr); err != nil {
			return err
		}
	}
}

// betweenLooks is how long a new tape may go unseen.
const betweenLooks = 100 * time.Millisecond

// nextTape waits for a tape that begins after another one, or for the first. A
// person is told of it.
func nextTape(ctx context.Context, store *record.Store, after string, stderr io.Writer) (string, error) {
	told := !isTerminal(stderr)
	for {
		ids, err := store.Tapes()
		if err != nil {
			return "", err
		}
		i, found := slices.BinarySearch(ids, after)
		if found {
			i++
		}
		if i < len(ids) {
			return ids[i], nil
		}
		if !told {
			told = true
			which := "next"
			if after == "" {
				which = "first"
			}
			fmt.Fprintf(stderr, "waiting for the %s tape in %s\n", which, store.Dir())
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(betweenLooks):
		}
	}
}
