package frameindex

import (
	"context"
	"slices"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
)

// A Judge finds what is wrong with the frames of a timeline, even while a tape is recorded.
// It is safe for concurrent use.
type Judge interface {
	// Await waits until a frame and all before it are judged, or nothing will follow. It
	// returns false if ctx is done before.
	Await(ctx context.Context, seq uint64) bool

	// Findings returns what is known to be wrong with a frame.
	Findings(seq uint64) []filter.Finding

	// Late returns the frames with findings that came only from later frames, such as a
	// request that was never answered, without the first n. It blocks until there are some,
	// and returns none if nothing will follow or ctx is done.
	Late(ctx context.Context, n int) []uint64
}

// judged waits until the frames up to seq are judged, if the filter needs findings. It
// returns false if ctx is done before.
func (s *Scan) judged(ctx context.Context, seq uint64) bool {
	return !s.Filter.NeedsFindings() || s.Judge.Await(ctx, seq)
}

// relook scans frames with late findings again, until nothing will follow or ctx is done.
func (s *Scan) relook(ctx context.Context, t *Timeline) {
	t, err := t.Reopen()
	if err != nil {
		s.mu.Lock()
		s.found.Err = err
		s.mu.Unlock()
		s.OnMore()
		return
	}
	for n := 0; ; {
		late := s.Judge.Late(ctx, n)
		if len(late) == 0 {
			return
		}
		n += len(late)
		s.again(ctx, t, slices.Compact(slices.Sorted(slices.Values(late))))
		s.OnMore()
	}
}

// again scans some frames again, in rising order. All of them are requests: what is wrong
// with any other frame is known when it is judged.
func (s *Scan) again(ctx context.Context, t *Timeline, late []uint64) {
	m := NewMatcher(s.Filter, s.start)
	m.KnowFindings(s.Judge.Findings)
	m.Know(t)
	open, _ := s.Index.unanswered()
	m.KnowOpen(open)
	look := func(f *dialect.Frame) {
		if _, is := slices.BinarySearch(late, f.Seq); is {
			m.Matches(t.PartOf(f.Seq), f)
			m.now.fails = m.now.fails || open.IsUnanswered(f)
			s.revise(f.Seq, &m)
		} else if m.past {
			m.Observe(t.PartOf(f.Seq), f)
		}
	}
	from, to := late[0], late[len(late)-1]
	if m.past {
		from = 1
	}
	if !m.Filter.NeedsBytes() {
		c, _, _, _ := s.Index.current()
		c.each(from, to, look)
		return
	}
	for f, err := range t.frames(from) {
		if ctx.Err() != nil || f.Seq > to {
			return
		}
		if err == nil {
			look(&f)
		}
	}
}

// revise updates the state of a request from m, which has just scanned it, and what becomes
// of it later.
func (s *Scan) revise(seq uint64, m *Matcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seq > s.found.Last { // it has not been scanned yet
		return
	}
	s.change(seq, m.now)
	before, now := s.requests.Find(seq), m.requests.Find(seq)
	if before != nil && now != nil && !before.Done {
		before.Note = now.Note
	}
}
