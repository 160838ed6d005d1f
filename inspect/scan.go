package inspect

import (
	"context"
	"sync"
	"time"

	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A scan says which frames are shown: first of those that are there by now, then,
// while a tape is recorded, of what comes. It looks at the ledger, and at the
// tapes only if the filter asks for the bytes.
type scan struct {
	sieve
	ledger *ledger
	first  func()    // called in the scan's goroutine when the first frames are found
	news   func()    // called when there is something else to take
	told   time.Time // when one of them was last
	looks  int
	shows  bool // something was found

	mu    sync.Mutex // guards what follows
	run   run
	found findings // not taken yet
}

// findings are what a scan has found since they were taken last.
type findings struct {
	sights []sight
	last   uint64 // all frames up to this one were looked at
	caught bool   // all that was there at first was looked at
	err    error  // of the last stretch that could not be read
}

// A sight is what is kept of a frame that is shown, in one word: there may be
// millions before they are taken.
type sight uint64

func newSight(seq uint64, head, bad, mark bool) sight {
	s := sight(seq << 4)
	if head {
		s |= 1
	}
	if bad {
		s |= 2
	}
	if mark {
		s |= 4
	}
	return s
}

// goneSight is of a frame that was shown, and is not any more.
func goneSight(seq uint64) sight { return sight(seq<<4) | 8 }

func (s sight) seq() uint64 { return uint64(s >> 4) }
func (s sight) head() bool  { return s&1 != 0 } // it is not folded into the row before
func (s sight) bad() bool   { return s&2 != 0 } // it is an error, an invalid line or a loss
func (s sight) loss() bool  { return s&6 == 6 }
func (s sight) gone() bool  { return s&8 != 0 }

// tellEvery is how often a scan says that it goes on, if it finds nothing.
const tellEvery = 200 * time.Millisecond

// read looks at the frames of a reel until that ends or ctx is done.
func (s *scan) read(ctx context.Context, r *reel) {
	s.told = time.Now()
	if s.filter.NeedsFuture() && !s.wait(ctx) {
		return
	}
	if s.filter.NeedsBytes() {
		s.readTapes(ctx, r)
		return
	}
	for next := uint64(1); ; {
		c, caught, ended, more := s.ledger.now()
		for next <= c.last && ctx.Err() == nil {
			end := c.ahead(next, publishEvery-1)
			s.look(func() {
				c.each(next, end, func(f *dialect.Frame, isBad bool) { s.see(r, f, isBad) })
				next = end + 1
			})
		}
		if caught {
			s.look(func() { s.found.caught = true })
		}
		if ended {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-more:
		}
	}
}

// wait waits until the ledger has all that was there at first, and notes which
// requests are open by then. It reports whether ctx was not done before.
func (s *scan) wait(ctx context.Context) bool {
	for {
		_, caught, _, more := s.ledger.now()
		if caught {
			s.open, s.known = s.ledger.waiting()
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-more:
		}
	}
}

// readTapes is read for a filter that asks for the bytes.
func (s *scan) readTapes(ctx context.Context, r *reel) {
	next := uint64(1)
	see := func(f *dialect.Frame, err error) {
		s.look(func() {
			if err != nil {
				s.found.err = err
				return
			}
			s.see(r, f, frametext.IsProblem(f))
			next = f.Seq + 1
		})
	}
	for f, err := range r.frames(1) {
		if ctx.Err() != nil {
			return
		}
		see(&f, err)
	}
	s.look(func() { s.found.caught = true })
	for f, err := range r.follow(ctx, next) {
		see(&f, err)
	}
}

// look changes what is found, and tells of it if there is something new, or
// nothing for long.
func (s *scan) look(change func()) {
	s.mu.Lock()
	sights, caught, err := len(s.found.sights), s.found.caught, s.found.err
	change()
	seen := len(s.found.sights) != sights
	news := seen || s.found.caught != caught || s.found.err != err
	s.mu.Unlock()
	s.looks++
	if seen && !s.shows {
		s.shows, s.told = true, time.Now()
		s.first()
	} else if news || s.looks%256 == 0 && time.Since(s.told) > tellEvery { // the clock takes as long as a small frame
		s.told = time.Now()
		s.news()
	}
}

// take returns what was found since the last time.
func (s *scan) take() findings {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.found
	s.found.sights, s.found.err = nil, nil
	return found
}

// see looks at the next frame.
func (s *scan) see(r *reel, f *dialect.Frame, isBad bool) {
	for seq, shown := range s.turns(f) {
		if shown {
			s.found.sights = append(s.found.sights, newSight(seq, true, false, false)) // a request is no chunk, and no error
		} else {
			s.found.sights = append(s.found.sights, goneSight(seq))
		}
	}
	shown := s.wants(r.at(f.Seq), f)
	s.found.last = f.Seq
	isBad = isBad && f.Origin.Sent() // else it is acptap's, or the same error once more
	if head := s.run.head(f, shown); shown {
		s.found.sights = append(s.found.sights, newSight(f.Seq, head, isBad, f.Kind == wire.Mark))
	}
}

// A run is a row of chunks that say one thing piece by piece: neighbours on the
// tape, of one session and one variant.
type run struct {
	first  dialect.Frame // without its bytes
	last   uint64
	n      int
	asked  bool // whether its frames are chunks
	chunks bool
}

// maxRun is how many chunks make one row.
const maxRun = 1 << 12

// head takes the next frame and reports whether a row begins with it.
func (r *run) head(f *dialect.Frame, shown bool) bool {
	if !shown {
		r.n = 0
		return true
	}
	if r.n > 0 && f.Seq == r.last+1 && r.n < maxRun && r.goesOn(f) {
		r.last++
		r.n++
		return false
	}
	*r = run{first: *f, last: f.Seq, n: 1}
	r.first.Raw = nil
	return true
}

func (r *run) goesOn(f *dialect.Frame) bool {
	a := &r.first
	if a.Update == "" || a.Update != f.Update || a.Session != f.Session || a.Dir != f.Dir || a.Origin != f.Origin || a.Kind != wire.Notification {
		return false
	}
	if !r.asked {
		u, ok := dialect.LookupUpdate(a.Update)
		r.asked, r.chunks = true, ok && u.Form == dialect.Chunk
	}
	return r.chunks
}
