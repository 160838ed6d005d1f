package matrix

import (
	"cmp"
	"context"
	"fmt"

	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// atOnce is the number of tapes read concurrently.
const atOnce = 2

// A Tape is a tape to read. Evidence names it by File, its path, or by its id if File is
// empty.
type Tape struct {
	*record.Tape
	File  string
	Store *record.Store // has the tapes of the servers that the agent started; nil: unknown
}

// OfTapes returns the matrix of tapes for one side, and why some tapes could not be read
// completely; what could be read counts. It calls progress, unless nil, with the
// number of finished tapes. If ctx is done, OfTapes returns early with what it has read.
func OfTapes(ctx context.Context, side dialect.Side, tapes []Tape, progress func(done, total int)) (m *Matrix, broken []error) {
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
func (m *Matrix) add(ctx context.Context, t Tape) error {
	parts, err := reading.Agents(t.Tape)
	if err != nil {
		return err
	}
	info := parts[0].Info
	parts[0].Store = t.Store
	r := m.Read(cmp.Or(t.File, info.Tape), tapetext.AgentName(info), tapecheck.Options(parts...))
	for e := range reading.New(parts).Read(ctx) {
		switch {
		case e.Err != nil:
			return fmt.Errorf("tape %s: %w", info.Tape, e.Err)
		case e.Kind == reading.Read:
			r.Add(&e.Frame)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.servers, err = tapecheck.Unstarted(r.checker, parts[0])
	r.End()
	if err == nil {
		err = m.addCase(t.Tape, &info)
	}
	return err
}
