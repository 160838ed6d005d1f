package frameindex

import (
	"context"
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
)

// A Judge finds what is wrong with a timeline's frames, even while a tape is being
// recorded. It is safe for concurrent use.
type Judge interface {
	// Await waits until a frame and all earlier ones have been judged, or nothing will
	// follow. It returns false if ctx is done first.
	Await(ctx context.Context, seq uint64) bool

	// Findings returns what is known to be wrong with a frame.
	Findings(seq uint64) []*conform.Finding

	// Late returns frames whose findings only later frames revealed, such as a request
	// that was never answered, skipping the first n. It blocks until there are some, and
	// returns none if nothing will follow or ctx is done.
	Late(ctx context.Context, n int) []uint64
}

// judged waits until the frames up to seq have been judged, if the filter needs findings.
// It returns false if ctx is done first.
func (s *Scan) judged(ctx context.Context, seq uint64) bool {
	return !s.Filter.NeedsFindings() || s.Judge.Await(ctx, seq)
}

// relook rescans frames with late findings until nothing will follow or ctx is done.
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

// again rescans some frames, in ascending order. All of them are requests: any other
// frame's findings are known when it is judged.
func (s *Scan) again(ctx context.Context, t *Timeline, late []uint64) {
	m := NewMatcher(s.Filter, s.start)
	m.Findings, m.Timeline = s.Judge.Findings, t
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

// revise updates the state of a request that m has just scanned, and what it will become
// later.
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
