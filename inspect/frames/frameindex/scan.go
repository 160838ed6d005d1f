package frameindex

import (
	"context"
	"sync"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
)

// A Scan finds the frames that a filter shows: first among the existing ones, then, while
// a tape is being recorded, among new ones. It uses the index, and reads the tapes only
// if the filter needs the bytes.
type Scan struct {
	Matcher
	Index     *Index
	Judge     Judge     // required if the filter needs findings
	OnFirst   func()    // called in the scan's goroutine when the first frames are found
	OnMore    func()    // called when there is more to take
	announced time.Time // time of the last report
	updates   int
	shows     bool // something was found
	ends      int  // number of parts whose end was handled
	relooking sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	run   ChunkRun
	found Found // not taken yet
}

// ReportEvery is the interval at which a long operation reports its progress.
const ReportEvery = 200 * time.Millisecond

// Read scans a timeline's frames until it ends or ctx is done. If it must read the tapes,
// it reopens them.
func (s *Scan) Read(ctx context.Context, t *Timeline) {
	s.announced = time.Now()
	s.Timeline = t
	if (s.Filter.NeedsFuture() || t.order != nil && s.Filter.NeedsSession()) && !s.Index.Await(ctx) {
		return
	}
	if s.Filter.NeedsFuture() {
		s.open, s.known = s.Index.unanswered()
	}
	if s.Filter.NeedsFindings() {
		s.Findings = s.Judge.Findings
		defer s.relooking.Wait()
	}
	if s.Filter.NeedsBytes() {
		s.readTapes(ctx, t)
		return
	}
	for next := uint64(1); ; {
		c, complete, ended, more := s.Index.current()
		for next <= c.Last && ctx.Err() == nil {
			end := c.ahead(next, publishEvery-1)
			if !s.judged(ctx, end) {
				return
			}
			s.update(func() {
				c.each(next, end, func(f *dialect.Frame) { s.observe(t, f) })
				next = end + 1
			})
		}
		if complete {
			s.update(func() { s.endTapes(t, next) })
			s.complete(ctx, t)
		}
		if ended {
			s.update(s.end)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-more:
		}
	}
}

// complete marks the frames that were initially there as scanned.
func (s *Scan) complete(ctx context.Context, t *Timeline) {
	if s.found.Complete {
		return
	}
	s.update(func() { s.found.Complete = true })
	if s.Filter.NeedsFindings() {
		s.relooking.Go(func() { s.relook(ctx, t) })
	}
}

// readTapes does the work of Read for a filter that needs the bytes.
func (s *Scan) readTapes(ctx context.Context, t *Timeline) {
	t, err := t.Reopen()
	if err != nil {
		s.update(func() { s.found.Err, s.found.Complete = err, true })
		return
	}
	next := uint64(1)
	observe := func(f *dialect.Frame, err error) {
		s.update(func() {
			if err != nil {
				s.found.Err = err
				return
			}
			s.observe(t, f)
			next = f.Seq + 1
		})
	}
	for f, err := range t.frames(1) {
		if ctx.Err() != nil || err == nil && !s.judged(ctx, f.Seq) {
			return
		}
		observe(&f, err)
	}
	s.complete(ctx, t)
	for f, err := range t.Follow(ctx, next) {
		if err == nil && !s.judged(ctx, f.Seq) {
			return
		}
		observe(&f, err)
	}
	if ctx.Err() == nil {
		s.update(s.end)
	}
}

// end marks all tapes as finished.
func (s *Scan) end() { s.endOf(func(uint64) bool { return true }) }

// endOf marks the requests that meant selects as never answered.
func (s *Scan) endOf(meant func(seq uint64) bool) {
	for seq, now := range s.unanswered(meant) {
		s.change(seq, now)
	}
}

// endPart marks a part as finished.
func (s *Scan) endPart(t *Timeline, part int) {
	s.endOf(func(seq uint64) bool { return t.PartOf(seq) == part })
}

// endTapes marks the tapes that ended before a frame as finished.
func (s *Scan) endTapes(t *Timeline, before uint64) {
	for {
		part, ok := t.ended(s.ends, before)
		if !ok {
			return
		}
		s.ends++
		s.endPart(t, part)
	}
}

// change records the new state of a request, which is never a chunk.
func (s *Scan) change(seq uint64, now state) {
	s.found.Matches = append(s.found.Matches, Match{Seq: seq, Head: true, Failure: now.fails, Gone: !now.shown})
}

// update makes a change, and reports it if it found something or the last report was long
// ago.
func (s *Scan) update(change func()) {
	s.mu.Lock()
	matches, complete, err := len(s.found.Matches), s.found.Complete, s.found.Err
	change()
	more := len(s.found.Matches) != matches
	changed := more || s.found.Complete != complete || s.found.Err != err
	s.mu.Unlock()
	s.updates++
	if more && !s.shows {
		s.shows, s.announced = true, time.Now()
		s.OnFirst()
	} else if changed || s.isDue() {
		s.announced = time.Now()
		s.OnMore()
	}
}

// isDue reports whether the last report was long ago. Reading the clock takes as long as
// scanning a small frame, but far less than judging one.
func (s *Scan) isDue() bool {
	return (s.updates%256 == 0 || s.Filter.NeedsFindings()) && time.Since(s.announced) > ReportEvery
}

// Take returns what was found since the last Take.
func (s *Scan) Take() Found {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.found
	s.found.Matches, s.found.Err = nil, nil
	return found
}

// observe scans the next frame.
func (s *Scan) observe(t *Timeline, f *dialect.Frame) {
	for seq, now := range s.answered(f) {
		s.change(seq, now)
	}
	s.endTapes(t, f.Seq)
	part := t.PartOf(f.Seq)
	shown := s.Matches(part, f)
	s.found.Last = f.Seq
	if head := s.run.Begins(part, f, shown, s.now.fails); shown {
		s.found.Matches = append(s.found.Matches, Match{Seq: f.Seq, Head: head, Failure: s.now.fails})
	}
	if f.Events.Has(dialect.AgentEnded) {
		s.endPart(t, part)
	}
}

// A ChunkRun is a row of consecutive chunks of one text: adjacent on the tape, with the
// same session and variant.
type ChunkRun struct {
	part  int
	first dialect.Frame // without its bytes
	last  uint64
	n     int
}

// maxRun limits the chunks in one row.
const maxRun = 1 << 12

// Begins processes the next frame and reports whether it begins a row. A failure always
// does.
func (r *ChunkRun) Begins(part int, f *dialect.Frame, shown, fails bool) bool {
	if !shown {
		r.n = 0
		return true
	}
	if r.n > 0 && f.Seq == r.last+1 && part == r.part && r.n < maxRun && !fails && r.goesOn(f) {
		r.last++
		r.n++
		return false
	}
	*r = ChunkRun{part: part, first: *f, last: f.Seq, n: 1}
	r.first.Raw = nil
	return true
}

func (r *ChunkRun) goesOn(f *dialect.Frame) bool {
	a := &r.first
	return a.Update == f.Update && a.Session == f.Session && a.Dir == f.Dir && a.Origin == f.Origin && IsChunk(a)
}
