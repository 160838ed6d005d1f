package main

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// maxPending is how many bytes of frames are kept to be shown by time.
const maxPending = 4 << 20

// A following shows what comes on tapes that are recorded together. What one look at the
// store finds is shown by time.
type following struct {
	*gathering
	ctx     context.Context
	live    map[string]*party // those that have not ended, by tape
	known   map[string]*party
	pending []pendingFrame
	size    int
	ended   []*party // behind what is pending
	err     error
}

type pendingFrame struct {
	of    *party
	frame dialect.Frame
	err   error
	at    time.Duration
}

// goOn shows what comes on the tapes that are still recorded, and on those of servers that
// are started meanwhile, until all have ended or ctx is done.
func (g *gathering) goOn(ctx context.Context) error {
	f := following{gathering: g, ctx: ctx, live: map[string]*party{}, known: map[string]*party{}}
	for _, p := range g.parties {
		if f.known[p.info.Tape] = p; p.info.Live {
			f.live[p.info.Tape] = p
		}
	}
	if len(f.live) == 0 {
		return nil
	}
	for c, err := range g.sub.Store.Watch(ctx, f.wanted) {
		f.take(&c, err)
		if f.err != nil || len(f.live) == 0 {
			break
		}
	}
	f.flush()
	for _, p := range g.parties {
		if f.live[p.info.Tape] != nil {
			f.err = cmp.Or(f.err, p.end())
		}
	}
	return f.err
}

// wanted returns from where a tape is to be shown, when it appears.
func (f *following) wanted(tape string, live bool) (from uint64, ok bool) {
	if p := f.known[tape]; p != nil {
		return p.last + 1, f.live[tape] != nil
	}
	if tape < f.parties[0].info.Tape || f.err != nil {
		return 0, false // it was there before the agent's
	}
	t, err := f.sub.Store.Open(tape)
	if err != nil {
		return 0, false // it is gone already
	}
	if start, err := t.Start(); err != nil || f.known[start.Parent.Tape] == nil {
		return 0, false
	}
	if f.err = f.addStarted(); f.known[tape] == nil {
		return 0, false
	}
	return 1, true
}

// addStarted adds the tapes of servers that were started meanwhile.
func (f *following) addStarted() error {
	l, err := f.sub.Store.List()
	if err != nil {
		return err
	}
	before := len(f.parties)
	err = f.addBelow(f.ctx, record.NestingOf(l.Tapes), f.parties[0].info.Tape, "")
	for _, p := range f.parties[before:] {
		f.known[p.info.Tape], f.live[p.info.Tape] = p, p
	}
	return err
}

// take takes a change of the store.
func (f *following) take(c *record.Change, err error) {
	p := f.known[c.Tape]
	switch {
	case err != nil && p == nil:
		f.err = cmp.Or(f.err, err)
	case err != nil:
		f.pending = append(f.pending, pendingFrame{of: p, err: err, at: p.at})
	case c.Kind == record.FrameRecorded && p != nil:
		frame := c.Frame
		frame.Raw = bytes.Clone(frame.Raw)
		p.set(frame, nil)
		f.pending = append(f.pending, pendingFrame{of: p, frame: frame, at: p.at})
		if f.size += len(frame.Raw); f.size > maxPending {
			f.flush()
		}
	case (c.Kind == record.TapeEnded || c.Kind == record.TapeDeleted) && f.live[c.Tape] != nil:
		delete(f.live, c.Tape)
		f.ended = append(f.ended, p)
	case c.Kind == record.StoreLooked:
		f.flush()
	}
}

// flush shows what is pending.
func (f *following) flush() {
	slices.SortStableFunc(f.pending, func(a, b pendingFrame) int { return cmp.Compare(a.at, b.at) })
	for _, one := range f.pending {
		one.of.frame, one.of.err = one.frame, one.err
		f.err = cmp.Or(f.err, one.of.now())
	}
	for _, p := range f.ended {
		f.err = cmp.Or(f.err, p.end())
	}
	f.pending, f.ended, f.size = f.pending[:0], nil, 0
}
