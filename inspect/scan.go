package inspect

import (
	"context"
	"sync"
	"time"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A scan goes through a tape and says which frames are shown: first what is on
// the tape by now, then, while it is recorded, what comes.
type scan struct {
	filter filter.Filter
	start  time.Time // when the tape began
	news   func()    // called in the scan's goroutine when there is something to take

	past bool           // the filter asks for what stood before
	seen filter.Tracker // of all frames, if so

	mu    sync.Mutex // guards what follows
	calls calls
	run   run
	found findings // not taken yet
}

// findings are what a scan has found since they were taken last.
type findings struct {
	sights []sight
	fresh  []row  // the last of those that were recorded while the scan ran
	last   uint64 // all frames up to this one were looked at
	at     time.Duration
	open   []uint64 // requests that are shown and have no response, in order
	caught bool     // all that was on the tape at first was looked at
	ended  bool     // nothing will follow
	err    error    // of the last stretch that could not be read
}

// A sight is what is kept of a frame that is shown.
type sight struct {
	seq  uint64
	head bool // it is not folded into the row before
	bad  bool // it is an error, junk or a loss
}

// maxFresh is how many rows a scan prepares for drawing while nobody takes them:
// more than any screen has.
const maxFresh = 512

// read goes through the tape until it ends or ctx is done.
func (s *scan) read(ctx context.Context, tape *record.Tape) {
	frames := tape.Rows
	if s.filter.NeedsBytes() {
		frames = tape.Frames
	}
	s.past = s.filter.NeedsPast() || s.filter.NeedsFuture()
	s.seen.Next(s.start)
	if s.filter.NeedsFuture() {
		s.seen.LookAhead(tape.Rows(1))
	}
	for f, err := range frames(1) {
		if ctx.Err() != nil {
			return
		}
		s.see(tape, &f, err, false)
	}
	s.tell(func() { s.found.caught = true })
	for f, err := range tape.Follow(ctx, s.found.last+1) {
		s.see(tape, &f, err, true)
	}
	s.tell(func() { s.found.ended = ctx.Err() == nil })
}

// tell changes what is found.
func (s *scan) tell(change func()) {
	s.mu.Lock()
	change()
	s.mu.Unlock()
	s.news()
}

// take returns what was found since the last time.
func (s *scan) take() findings {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.found
	found.open = s.calls.unanswered()
	s.found.sights, s.found.fresh, s.found.err = nil, nil, nil
	return found
}

// see looks at a frame, with its bytes if it is fresh.
func (s *scan) see(tape *record.Tape, f *dialect.Frame, err error, fresh bool) {
	if err != nil {
		s.tell(func() { s.found.err = err })
		return
	}
	if f.Kind == wire.Mark && f.Raw == nil {
		if whole, err := tape.Frame(f.Seq); err == nil {
			*f = whole // what happened stands in its bytes, and there are few marks
		}
	}
	shown := s.wants(f)
	s.mu.Lock()
	latency, answered := s.calls.see(f, true)
	if !shown && f.Kind == wire.Request {
		s.calls.hide(f.Seq)
	}
	s.found.last, s.found.at = f.Seq, f.At
	if head := s.run.head(f, shown); shown {
		s.found.sights = append(s.found.sights, sight{f.Seq, head, isBad(f)})
		if fresh {
			s.found.fresh = append(s.found.fresh[max(0, len(s.found.fresh)-maxFresh):], newRow(f, latency, answered))
		}
	}
	s.mu.Unlock()
	s.news()
}

func (s *scan) wants(f *dialect.Frame) bool {
	if s.past {
		subject := s.seen.See(f)
		return s.filter.Match(&subject)
	}
	return s.filter.Match(&filter.Subject{Frame: f, Start: s.start})
}

// isBad reports whether a frame tells of something that went wrong.
func isBad(f *dialect.Frame) bool {
	if f.Kind == wire.Mark {
		m := wire.ReadMark(f.Frame)
		return m.Gap != 0 || m.Damage != 0 || m.Exit != nil && m.Exit.Code != 0
	}
	return f.Failed || f.Kind == wire.Junk
}

// A run is a row of chunks that say one thing piece by piece: neighbours on the
// tape, of one session and one variant.
type run struct {
	first dialect.Frame // without its bytes
	last  uint64
	n     int
}

// maxRun is how many chunks make one row.
const maxRun = 1 << 12

// head takes the next frame and reports whether a row begins with it.
func (r *run) head(f *dialect.Frame, shown bool) bool {
	if shown && f.Seq == r.last+1 && r.n < maxRun && sameRun(&r.first, f) {
		r.last++
		r.n++
		return false
	}
	*r = run{}
	if shown {
		r.first, r.last, r.n = *f, f.Seq, 1
		r.first.Raw = nil
	}
	return true
}

func sameRun(a, b *dialect.Frame) bool {
	if a.Update == "" || a.Update != b.Update || a.Session != b.Session || a.Dir != b.Dir || a.Origin != b.Origin || a.Kind != wire.Notification {
		return false
	}
	u, ok := dialect.LookupUpdate(a.Update)
	return ok && u.Form == dialect.Chunk
}
