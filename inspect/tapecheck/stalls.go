package tapecheck

import (
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// stalls finds what has hung on tapes: rule WATCH.
type stalls struct {
	watch stall.Watch
	tape  *record.Tape
	nth   int // of the current tape, from 0

	last dialect.Frame // with its bytes only while held
	held bool          // last is a chunk that the watch has not seen
	raw  []byte        // reused for last's bytes
}

// start starts a tape; the first is 0.
func (s *stalls) start(t *record.Tape, nth int) {
	*s = stalls{tape: t, nth: nth, raw: s.raw}
}

// frame handles the next frame, and returns the stalls that it ends. Of a run of chunks
// in quick succession the watch sees only the first and the last: nothing hangs in
// between, and most frames on a long tape are such chunks (BenchmarkCheckTape in
// cmd/acptap).
func (s *stalls) frame(f *dialect.Frame) (found []conform.Finding) {
	if s.continues(f) {
		s.raw = append(s.raw[:0], f.Raw...)
		s.last, s.held = *f, true
		s.last.Raw = s.raw
		return nil
	}
	found = s.flush()
	found = append(found, s.over(s.watch.Add(f))...)
	s.last = *f
	return found
}

// continues reports whether f is a chunk that soon follows another one of the same text.
func (s *stalls) continues(f *dialect.Frame) bool {
	u, ok := dialect.LookupUpdate(f.Update)
	return ok && u.Form == dialect.Chunk && f.Kind == wire.Notification && f.Update == s.last.Update &&
		f.Session == s.last.Session && f.Dir == s.last.Dir && f.At-s.last.At < time.Second
}

// flush shows the watch the chunk that is held.
func (s *stalls) flush() (found []conform.Finding) {
	if s.held {
		s.held = false
		found = s.over(s.watch.Add(&s.last))
	}
	return found
}

// end returns the stalls that the end of the tape ends; none if it is still being
// recorded.
func (s *stalls) end() []conform.Finding {
	if info, err := s.tape.Info(); err != nil || info.Live {
		return nil
	}
	found := s.flush()
	return append(found, s.over(s.watch.End())...)
}

// over returns findings for the stalls that ended.
func (s *stalls) over(changes []stall.Change) (found []conform.Finding) {
	for i := range changes {
		c := &changes[i]
		if !c.Over {
			continue
		}
		f := conform.Finding{
			Rule: report.Watch, Clause: &report.Watch.Clauses[0], Strength: conform.Note, Tape: s.nth,
			Session: c.Session, At: c.Since,
		}
		f.Text, f.Seq, f.Entry = c.Was, c.Frame, -1
		if c.By != 0 {
			f.Because = []uint64{c.By}
		}
		if since, err := s.tape.Frame(c.Frame); err == nil {
			f.Method, f.Update = since.Method, since.Update
		}
		found = append(found, f)
	}
	return found
}
