package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/terminal"
	"github.com/acptap/acptap/inspect/frametext"
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
	known := map[string]bool{}
	for _, id := range ids {
		known[id] = true
	}
	var id string
	if n := len(ids); n > 0 {
		id = ids[n-1]
	} else if id, err = nextTape(ctx, store, known, stderr); err != nil {
		return err
	}
	for first := true; ; first = false {
		tape, err := store.Open(id)
		if err != nil {
			return err
		}
		if !first && !s.asJSON {
			_, color := s.canvas(stdout)
			lines := frametext.Lines{W: stdout, Color: color}
			if err := lines.Heading("tape " + id); err != nil {
				return err
			}
		}
		err = s.run(ctx, subject{Parts: []part{{Tape: tape}}}, stdout, stderr)
		if !endless || err != nil && !errors.Is(err, errNo) {
			return err
		}
		if id, err = nextTape(ctx, store, known, stderr); err != nil {
			return err
		}
	}
}

// betweenLooks is how long a new tape may go unseen.
const betweenLooks = 100 * time.Millisecond

// nextTape waits for a tape that begins after those that are known, or for the
// first. It is known then. A person is told of it.
func nextTape(ctx context.Context, store *record.Store, known map[string]bool, stderr io.Writer) (string, error) {
	told := !terminal.Is(stderr)
	for {
		ids, err := store.Tapes()
		if err != nil {
			return "", err
		}
		first := len(ids)
		for first > 0 && !known[ids[first-1]] {
			first--
		}
		if first < len(ids) {
			known[ids[first]] = true
			return ids[first], nil
		}
		if !told {
			told = true
			which := "next"
			if len(known) == 0 {
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
