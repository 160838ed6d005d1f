package reading

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/acptap/acptap/record"
)

// maxPending limits the bytes of frames that may wait to be sorted by time.
const maxPending = 4 << 20

// follow yields what is added to the tapes still being recorded, and the contents of
// those of servers that start meanwhile, until all have ended or ctx is done. It sorts by
// time what one look at the store finds.
func (p *pass) follow(ctx context.Context) {
	if !p.live() {
		return
	}
	for c, err := range p.changes(ctx) {
		p.take(&c, err)
		if c.Kind != record.StoreLooked && c.Kind != record.TapeEnded && p.size <= maxPending && p.store != nil {
			continue
		}
		if !p.flush() || !p.live() {
			return
		}
	}
}

// live reports whether a tape is still being recorded.
func (p *pass) live() bool {
	return slices.ContainsFunc(p.Parts, func(part *Part) bool { return !part.over })
}

// changes yields what happens to the tapes.
func (p *pass) changes(ctx context.Context) iter.Seq2[record.Change, error] {
	if p.store == nil {
		last := p.Parts[p.agents-1]
		return last.Tape.Watch(ctx, last.last+1)
	}
	return p.store.Watch(ctx, p.wanted)
}

// wanted returns the first frame to read of a new tape.
func (p *pass) wanted(tape string, _ bool) (from uint64, ok bool) {
	part := p.known[tape]
	if part == nil {
		if part = p.started(tape); part == nil {
			return 0, false
		}
	}
	return part.last + 1, !part.over
}

// started returns the part of a server's tape that began meanwhile, or nil if the tape is
// not one.
func (p *pass) started(tape string) *Part {
	if p.listed[tape] {
		return nil
	}
	t, err := p.store.Open(tape)
	if err != nil {
		return nil // already gone
	}
	start, err := t.Start()
	if err != nil || p.known[start.Parent.Tape] == nil {
		return nil
	}
	if err := p.find(&record.Info{Tape: tape, Start: start, Live: true}); err != nil {
		p.fail(err)
	}
	return p.known[tape]
}

// fail records an error that belongs to no tape, unless it repeats the previous one: a
// store that cannot be listed reports it each time.
func (p *pass) fail(err error) {
	if p.told != err.Error() {
		p.told = err.Error()
		p.pending = append(p.pending, Event{Kind: Read, Err: err})
	}
}

// take handles a change in the store.
func (p *pass) take(c *record.Change, err error) {
	part := p.known[c.Tape]
	if p.store == nil {
		part = p.Parts[p.agents-1]
	}
	switch {
	case err != nil && part == nil:
		p.fail(err)
	case part == nil || part.over:
	case err != nil || c.Kind == record.FrameRecorded:
		e := Event{Kind: Read, Part: part, Frame: c.Frame, Err: err}
		if p.store != nil { // otherwise it is yielded at once
			e.Frame.Raw = bytes.Clone(e.Frame.Raw)
		}
		e.place()
		p.pending = append(p.pending, e)
		p.size += len(e.Frame.Raw)
	case c.Kind == record.TapeEnded, c.Kind == record.TapeDeleted:
		part.over = true
		p.ended = append(p.ended, part)
	}
}

// flush yields what is pending, and reports whether to continue.
func (p *pass) flush() bool {
	if len(p.pending)+len(p.ended) == 0 {
		return true
	}
	slices.SortStableFunc(p.pending, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	for i := range p.pending {
		if e := &p.pending[i]; !p.begin(e.Part) || !p.yield(e) {
			return false
		}
	}
	for _, part := range p.ended {
		if !p.begin(part) || !p.yield(&Event{Kind: Ends, Part: part}) {
			return false
		}
	}
	clear(p.pending)
	p.pending, p.ended, p.size = p.pending[:0], nil, 0
	return p.yield(&Event{Kind: Looked})
}

// begin yields the beginning of a part, unless it has already begun, and reports whether
// to continue.
func (p *pass) begin(part *Part) bool {
	if part == nil || part.begun {
		return true
	}
	part.begun = true
	return p.yield(&Event{Kind: Begins, Part: part, At: part.Began})
}
