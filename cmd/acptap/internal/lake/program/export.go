package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/lake"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	tables "github.com/acptap/acptap/cmd/acptap/internal/ship/lake"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record/reading"
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
		whole, err := wholeTapes(found)
		if err != nil {
			return err
		}
		ctx, stop := cli.UntilSignal(cmd.Context())
		defer stop() // signals are not caught earlier, so that they interrupt the reading of files
		damage, err := writeTables(ctx, to, whole, x, cli.NewProgress(cmd.ErrOrStderr(), "writing"))
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

// destination returns where to write the tables.
func destination(x *lake.Export) (tables.Destination, error) {
	if !x.InBucket() {
		return tables.Directory(x.Output), nil
	}
	b, err := openBucket(x.Output)
	if err != nil {
		return nil, err
	}
	if x.Raw && !b.Raw {
		return nil, fmt.Errorf("--raw would leave secrets in %s; to allow that, append ?raw=1 to the URL", b.Address)
	}
	return func(name string) (tables.File, error) { return b.Create(name, tables.ContentType) }, nil
}

// wholeTapes returns the tapes of subjects and those of the servers that their agents
// started, each once, in time order. It returns whole tapes even for sessions.
func wholeTapes(found []ref.Subject) ([]*reading.Part, error) {
	for i := range found {
		found[i].Session = ""
	}
	r, err := tapelist.Reader(found, true)
	if err != nil {
		return nil, err
	}
	tapes := r.Agents()
	for _, server := range r.Servers() {
		if !slices.ContainsFunc(r.Agents(), func(p *reading.Part) bool { return p.Store != nil && p.Info.Tape == server.Info.Tape }) {
			tapes = append(tapes, server)
		}
	}
	slices.SortStableFunc(tapes, func(a, b *reading.Part) int { return a.Info.Start.Time.Compare(b.Info.Start.Time) })
	return tapes, nil
}

// workers is the number of tapes written concurrently, because a distant server answers
// slowly.
const workers = 4

// writeTables writes the tables of tapes. damage joins the errors for unreadable parts.
// Any other error ends the export.
func writeTables(ctx context.Context, to tables.Destination, whole []*reading.Part, x *lake.Export, bar *cli.Progress) (damage []error, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	type result struct{ damage, err error }
	results := make(chan result)
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(workers, len(whole)) {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(whole)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				damage, err := writeTape(ctx, to, whole[i], x)
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
		bar.Count(done, len(whole))
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
func writeTape(ctx context.Context, to tables.Destination, p *reading.Part, x *lake.Export) (damage, err error) {
	of, err := ship.TapeOf(p.Tape, &p.Info)
	if err != nil {
		return nil, err
	}
	info := p.Info
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
	for f, err := range ship.Frames(p.Tape, x.Content && !x.Raw) {
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
