package frameindex

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// maxPending is how many bytes of frames are kept to be put into the order by time.
const maxPending = 4 << 20

// later yields what comes on the tapes that are still recorded, and on those of servers that
// are started meanwhile, until all have ended or ctx is done. What one look at the store
// finds is put into the order by time.
func (g *gathering) later(ctx context.Context) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		if g.live == 0 {
			g.order.finish()
			return
		}
		for c, err := range g.order.store.Watch(ctx, g.wanted) {
			if g.take(&c, err); c.Kind != record.StoreLooked && g.size <= maxPending {
				continue
			}
			if !g.flush(yield) {
				return
			}
			if g.live == 0 {
				break
			}
		}
		if g.flush(yield) && ctx.Err() == nil {
			g.order.finish()
		}
	}
}

// wanted returns from where a tape is to be read, when it appears.
func (g *gathering) wanted(tape string, live bool) (from uint64, ok bool) {
	part, ok := g.known[tape]
	switch {
	case !ok && !g.started(tape):
		return 0, false
	case !ok:
		return 1, true
	case part < len(g.agents)-1 || part < g.read && !g.Part(part).Info.Live:
		return 0, false
	}
	return g.last[part] + 1, true
}

// started adds the tape of a server that was started meanwhile, and reports whether it is
// one.
func (g *gathering) started(tape string) bool {
	if g.listed[tape] {
		return false
	}
	t, err := g.order.store.Open(tape)
	if err != nil {
		return false // it is gone already
	}
	start, err := t.Start()
	if _, ours := g.known[start.Parent.Tape]; err != nil || !ours || g.find(&record.Info{Tape: tape, Start: start, Live: true}) != nil {
		return false
	}
	_, ok := g.known[tape]
	return ok
}

// take takes a change of the store.
func (g *gathering) take(c *record.Change, err error) {
	part, ok := g.known[c.Tape]
	switch {
	case err != nil && ok:
		g.pending = append(g.pending, placed{part: part, err: err, at: g.time(part, nil, err)})
	case !ok:
	case c.Kind == record.FrameRecorded:
		f := c.Frame
		f.Raw = bytes.Clone(f.Raw)
		g.pending = append(g.pending, placed{part: part, frame: f, at: g.time(part, &f, nil)})
		g.size += len(f.Raw)
	case (c.Kind == record.TapeEnded || c.Kind == record.TapeDeleted) && g.order.goesOn(part) && !slices.Contains(g.ended, part):
		g.ended = append(g.ended, part)
		g.live--
	}
}

// flush yields what is pending, and ends the tapes that have ended.
func (g *gathering) flush(yield func(dialect.Frame, error) bool) bool {
	slices.SortStableFunc(g.pending, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	for i := range g.pending {
		p := &g.pending[i]
		if f, ok := g.put(p); ok && !yield(f, p.err) {
			return false
		}
	}
	for _, part := range g.ended {
		g.order.end(part)
	}
	if len(g.pending)+len(g.ended) > 0 {
		g.order.wake()
	}
	if len(g.ended) > 0 {
		g.onEnd()
	}
	g.pending, g.ended, g.size = nil, nil, 0
	return true
}
