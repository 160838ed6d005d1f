package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/lake"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	tables "github.com/acptap/acptap/cmd/acptap/internal/ship/lake"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
)

func newExportCmd(dir *string) *cobra.Command {
	return lake.NewExportCmd(func(cmd *cobra.Command, x *lake.Export, args []string) error {
		to, err := destination(x)
		if err != nil {
			return err
		}
		found, broken, err := x.Which.Find(*dir, args, cmd.InOrStdin())
		if err != nil {
			return err
		}
		if found, err = wholeTapes(found); err != nil {
			return err
		}
		sources, err := tapelist.Sources(found)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop() // not before: a signal ends the reading of files at once
		damage, err := writeTables(ctx, to, sources, x, cli.NewProgress(cmd.ErrOrStderr(), "writing"))
		if err != nil {
			return err
		}
		if broken = append(broken, damage...); len(broken) == 0 {
			return nil
		}
		last := len(broken) - 1
		for _, err := range broken[:last] {
			cli.Warn(cmd.ErrOrStderr(), "%v", err)
		}
		return broken[last]
	})
}

// destination returns where the tables go.
func destination(x *lake.Export) (tables.Destination, error) {
	if !x.InBucket() {
		return tables.Directory(x.Output), nil
	}
	b, err := openBucket(x.Output)
	if err != nil {
		return nil, err
	}
	if x.Raw && !b.Raw {
		return nil, fmt.Errorf("--raw would leave secrets in %s: if they may be there, put ?raw=1 behind the URL", b.Address)
	}
	return func(name string) (tables.File, error) { return b.Create(name, tables.ContentType) }, nil
}

// wholeTapes returns the tapes of subjects, of sessions too, and those of the servers that
// their agents started.
func wholeTapes(found []ref.Subject) ([]ref.Subject, error) {
	var nesting *record.Nesting // of the store, which is one
	var whole []ref.Subject
	for _, sub := range found {
		for _, p := range sub.Parts {
			whole = append(whole, ref.Subject{Parts: []ref.Part{{Tape: p.Tape}}, Store: sub.Store, File: sub.File})
			if sub.Store == nil {
				continue
			}
			if nesting == nil {
				l, err := sub.Store.List()
				if err != nil {
					return nil, err
				}
				n := record.NestingOf(l.Tapes)
				nesting = &n
			}
			for _, below := range nesting.Below(p.Tape.ID()) {
				t, err := sub.Store.Open(below.Tape)
				if errors.Is(err, record.ErrNoTape) { // deleted meanwhile
					continue
				}
				if err != nil {
					return nil, fmt.Errorf("tape %s: %w", below.Tape, err)
				}
				whole = append(whole, ref.Subject{Parts: []ref.Part{{Tape: t}}, Store: sub.Store})
			}
		}
	}
	return whole, nil
}

// workers is how many tapes are written at once: a server far away takes its time to answer.
const workers = 4

// writeTables writes the tables of tapes. damage says which parts of them cannot be read. An
// error ends it all.
func writeTables(ctx context.Context, to tables.Destination, sources []tapelist.Source, x *lake.Export, bar *cli.Progress) (damage []error, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	type result struct{ damage, err error }
	results := make(chan result)
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(workers, len(sources)) {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(sources)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				damage, err := writeTape(ctx, to, sources[i], x)
				results <- result{damage, err}
			}
		})
	}
	go func() {
		running.Wait()
		close(results)
	}()
	done := 0
	for r := range results {
		done++
		bar.Count(done, len(sources))
		if r.damage != nil {
			damage = append(damage, r.damage)
		}
		if r.err != nil {
			stop(r.err)
		}
	}
	bar.End()
	return damage, context.Cause(ctx)
}

// writeTape writes the tables of one tape.
func writeTape(ctx context.Context, to tables.Destination, s tapelist.Source, x *lake.Export) (damage, err error) {
	of, err := ship.TapeOf(s.Part.Tape, &s.Info)
	if err != nil {
		return nil, err
	}
	info := s.Info
	if !x.Raw {
		info = info.Redacted()
	}
	t := tables.Tape{ID: of.ID, Start: of.Start, Agent: tapetext.AgentName(info), Parent: of.Parent, Connection: info.Connection}
	if t.Parent != "" {
		t.Server = info.ServerName()
	}
	rows := tables.NewBuilder(t)
	rows.Content = x.Content
	w := tables.NewWriter(to, rows, cli.Version())
	defer w.Discard()
	for f, err := range ship.Frames(s.Part.Tape, x.Content && !x.Raw) {
		if ctx.Err() != nil {
			return damage, context.Cause(ctx)
		}
		if err != nil {
			damage = errors.Join(damage, fmt.Errorf("tape %s: %w", t.ID, err))
			continue
		}
		if err := w.Add(&f); err != nil {
			return damage, err
		}
	}
	return damage, w.Close(ctx)
}
