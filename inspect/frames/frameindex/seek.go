package frameindex

import (
	"context"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
)

// A Seek looks for the first matching frame, starting at a given number.
type Seek struct {
	From, Step uint64                    // Step is 1 or Backward
	FieldsFit  func(*dialect.Frame) bool // receives the fields
	BytesFit   func(*dialect.Frame) bool // receives the bytes of frames whose fields fit; nil accepts all
}

// maxCandidates limits the frames read at once. Even a backward search reads them
// forwards.
const maxCandidates = 1 << 10

// Run returns the first matching frame, or 0 if there is none. The result is meaningless
// if on has ended.
func (s *Seek) Run(c Columns, t *Timeline, on Progress) (found uint64, err error) {
	if s.BytesFit != nil {
		if t, err = t.Reopen(); err != nil {
			return 0, err
		}
	}
	for next := s.From; next != 0; {
		var some []uint64
		some, next = s.candidates(c, next, on)
		if s.BytesFit == nil || on.ctx.Err() != nil {
			return next, nil
		}
		if found := t.firstFit(some, s.BytesFit, on); found != 0 {
			return found, nil
		}
	}
	return 0, nil
}

// candidates returns nearby frames whose fields fit, and the next such frame, or 0 if
// there is none.
func (s *Seek) candidates(c Columns, from uint64, on Progress) (some []uint64, next uint64) {
	next = c.Seek(from, s.Step, func(f *dialect.Frame) bool {
		n := len(some)
		switch {
		case !on.at(f.Seq):
			return true
		case !s.FieldsFit(f):
			return false
		case s.BytesFit == nil, n == maxCandidates, n > 0 && max(f.Seq, some[n-1])-min(f.Seq, some[n-1]) > farApart:
			return true
		}
		some = append(some, f.Seq)
		return false
	})
	return some, next
}

// firstFit returns the first of the given frames that fits, or 0 if none does. They may
// be in descending order.
func (t *Timeline) firstFit(seqs []uint64, fits func(*dialect.Frame) bool, on Progress) uint64 {
	if len(seqs) == 0 {
		return 0
	}
	rising := slices.Sorted(slices.Values(seqs))
	forward := seqs[0] == rising[0]
	found := uint64(0)
	for f, err := range t.frames(rising[0]) {
		if !on.at(f.Seq) || err == nil && f.Seq > rising[len(rising)-1] {
			break
		}
		if _, wanted := slices.BinarySearch(rising, f.Seq); err != nil || !wanted || !fits(&f) {
			continue
		}
		if found = f.Seq; forward {
			break
		}
	}
	return found
}

// A Progress reports the progress of a long operation, and stops it when its context
// ends. The zero value does neither.
type Progress struct {
	ctx    context.Context
	frames *int
	report func(seq uint64)
}

// NewProgress returns a Progress that occasionally calls report with the current frame's
// number.
func NewProgress(ctx context.Context, report func(seq uint64)) Progress {
	return Progress{ctx, new(int), report}
}

// at sets the current frame, and reports whether to continue.
func (p Progress) at(seq uint64) bool {
	if p.report == nil {
		return true
	}
	if *p.frames++; *p.frames%256 == 0 { // checking takes as long as a frame does
		p.report(seq)
		return p.ctx.Err() == nil
	}
	return true
}

// TurnOf returns the number of the turn that a frame belongs to, or 0 if it belongs to
// none. start is when the first tape began.
func TurnOf(f *dialect.Frame, c Columns, t *Timeline, start time.Time, on Progress) int {
	s := NewMatcher(filter.Filter{}, start)
	s.Timeline = t
	turn := 0
	c.Seek(1, 1, func(g *dialect.Frame) bool {
		if g.Seq <= f.Seq && (g.Session == f.Session || g.Seq == f.Seq) {
			s.Observe(t.PartOf(g.Seq), g)
			turn = s.subject.Turn
		}
		return g.Seq >= f.Seq || !on.at(g.Seq)
	})
	return turn
}
