package matrix

import (
	"context"
	"fmt"

	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// atOnce is how many tapes are read concurrently.
const atOnce = 2

// OfTapes returns the matrix of tapes for one side, and why some tapes could not be read
// completely; what could be read counts. progress, which may be nil, is told how many are
// done. If ctx is done, OfTapes returns early with what it has read.
func OfTapes(ctx context.Context, side dialect.Side, tapes []*record.Tape, progress func(done, total int)) (m *Matrix, broken []error) {
	type result struct {
		matrix *Matrix
		err    error
	}
	results := make([]chan result, len(tapes))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	slots := make(chan struct{}, atOnce)
	go func() {
		for i, t := range tapes {
			slots <- struct{}{}
			go func() {
				defer func() { <-slots }()
				one := &Matrix{Side: side}
				err := one.add(ctx, t)
				results[i] <- result{one, err}
			}()
		}
	}()
	m = &Matrix{Side: side}
	for i := range results {
		r := <-results[i]
		m.Merge(r.matrix)
		if r.err != nil {
			broken = append(broken, r.err)
		}
		if progress != nil {
			progress(i+1, len(tapes))
		}
	}
	return m, broken
}

// add adds a tape.
func (m *Matrix) add(ctx context.Context, t *record.Tape) error {
	info, err := t.Info()
	if err != nil {
		return err
	}
	options, err := tapecheck.Options(ctx, t)
	if err != nil {
		return err
	}
	r := m.Read(info.Tape, tapetext.AgentName(info), options)
	for f, err := range t.Frames(1) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("tape %s: %w", info.Tape, err)
		}
		r.Add(&f)
	}
	r.End()
	return nil
}
