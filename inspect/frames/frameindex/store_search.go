package frameindex

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// A Search looks for frames on all tapes in a store, newest tape last, as lists do.
type Search struct {
	Store  *record.Store
	Filter filter.Filter
	Only   func(i *record.Info) bool // selects the tapes to search; nil selects all

	NewestFirst bool

	// Progress is called occasionally with the number of tape bytes searched so far, and
	// the total. It may be nil.
	Progress func(done, total int64)
}

// A Hit is a frame found by a Search.
type Hit struct {
	Tape record.Info

	// Subject is the frame; its bytes are valid until the next hit. It is Unanswered only if
	// the filter needs open requests.
	filter.Subject
}

// Hits yields the results. An error takes the place of an unreadable tape, or part of
// one; further hits follow it. If ctx is done, its cause comes last.
func (s Search) Hits(ctx context.Context) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		list, err := s.Store.List()
		if err != nil {
			yield(Hit{}, err)
			return
		}
		p := storeSearch{Search: s, yield: yield}
		if s.Only != nil {
			list.Tapes = slices.DeleteFunc(list.Tapes, func(i record.Info) bool { return !s.Only(&i) })
		}
		for _, info := range list.Tapes {
			p.total += info.Bytes
		}
		if s.NewestFirst {
			slices.Reverse(list.Tapes)
		}
		for _, info := range list.Tapes {
			if !p.tape(ctx, info) {
				return
			}
		}
		for _, b := range list.Broken {
			if !yield(Hit{}, fmt.Errorf("tape %s: %w", b.Tape, b.Err)) {
				return
			}
		}
	}
}

// A storeSearch is a search in progress.
type storeSearch struct {
	Search
	yield       func(Hit, error) bool
	done, total int64 // bytes of tapes searched, and in all

	findings func(seq uint64) []*conform.Finding // on the current tape, if the filter needs them
}

// tape yields the hits on one tape, and reports whether to continue.
func (p *storeSearch) tape(ctx context.Context, info record.Info) bool {
	done := p.done
	defer func() { p.done = done + info.Bytes }()
	t, err := p.Store.Open(info.Tape)
	if err != nil {
		return p.trouble(info, err)
	}
	p.report()
	if p.findings = nil; p.Filter.NeedsFindings() {
		found, err := tapecheck.Find(ctx, t)
		if ctx.Err() != nil {
			return p.stopped(ctx)
		}
		if err != nil {
			return p.trouble(info, err)
		}
		p.findings = found.On(0)
	}
	var track filter.Tracker
	if may, ok := p.may(ctx, t, info, &track); !may {
		return ok
	}
	p.begin(ctx, &track, t, info)
	for f, err := range t.Frames(1) { // earlier frames have the titles of tool calls
		if ctx.Err() != nil {
			return p.stopped(ctx)
		}
		if err != nil {
			if !p.trouble(info, err) {
				return false
			}
			continue
		}
		p.done = min(p.done+f.Size, done+info.Bytes) // stderr does not count
		if f.Seq%256 == 0 {                          // Progress may look at a clock, which takes as long as a small frame
			p.report()
		}
		subject := track.Observe(&f)
		if p.Filter.Match(&subject) && !p.yield(Hit{info, subject}, nil) {
			return false
		}
	}
	return true
}

// begin prepares track for a tape.
func (p *storeSearch) begin(ctx context.Context, track *filter.Tracker, t *record.Tape, info record.Info) {
	*track = filter.Tracker{}
	track.Next(info.Start.Time.Local())
	track.Server = info.Start.Parent.Server
	track.Findings = p.findings
	if p.Filter.NeedsFuture() {
		track.LookAhead(until(ctx, t.Rows(1)), !info.Live)
	}
}

// until yields frames until ctx is done.
func until(ctx context.Context, frames iter.Seq2[dialect.Frame, error]) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		for f, err := range frames {
			if ctx.Err() != nil || !yield(f, err) {
				return
			}
		}
	}
}

// may reports whether a frame might match. For most queries the fields, a small part of a
// tape, suffice to say no. ok is false to stop the search.
func (p *storeSearch) may(ctx context.Context, t *record.Tape, info record.Info, track *filter.Tracker) (may, ok bool) {
	p.begin(ctx, track, t, info)
	for f, err := range t.Rows(1) {
		if ctx.Err() != nil {
			return false, p.stopped(ctx)
		}
		if err != nil { // reading the bytes reports it again
			return true, true
		}
		if subject := track.Observe(&f); p.Filter.May(&subject) {
			return true, true
		}
	}
	return false, true
}

func (p *storeSearch) stopped(ctx context.Context) bool {
	p.yield(Hit{}, context.Cause(ctx))
	return false
}

// trouble yields an error, unless the tape was deleted in the meantime.
func (p *storeSearch) trouble(info record.Info, err error) bool {
	return errors.Is(err, record.ErrNoTape) || p.yield(Hit{Tape: info}, err)
}

func (p *storeSearch) report() {
	if p.Progress != nil {
		p.Progress(p.done, p.total)
	}
}
