package inspect

import (
	"context"
	"sync"

	"github.com/acptap/acptap/inspect/frameindex"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A story is what happened on a tape: it reads the tape in the background, and
// goes on while that is recorded. It begins when the first place asks for it.
type story struct {
	label func(seq uint64) string // of a frame's number
	tapes int

	mu     sync.Mutex // guards what follows
	trace  trace.Trace
	tally  tally
	used   []uses // by tape
	told   uint64 // the frames up to this one are in the lines that were made last
	broken bool   // a part of it cannot be read
	chapter
}

// A chapter is how far a story has got: as long as it is the same, so is the
// story.
type chapter struct {
	last  uint64 // the frames up to this one are in it
	ended bool   // nothing will follow
}

func (s *story) read(ctx context.Context, r *frameindex.Timeline, news func()) {
	for f, err := range r.Follow(ctx, 1) {
		if ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		if err != nil {
			s.broken = true
		} else {
			for n := len(s.trace.Runs); n <= r.PartOf(f.Seq); n++ {
				s.trace.Next(r.Parts[n].Info.Connection)
				s.used = append(s.used, uses{})
			}
			s.trace.Add(&f)
			if f.Kind != wire.Mark && f.Origin.Sent() { // what acptap made of it is not counted once more
				s.tally.add(&f)
				s.used[len(s.used)-1].add(&f)
			}
			s.last = f.Seq
		}
		s.mu.Unlock()
		news()
	}
	s.mu.Lock()
	s.ended = ctx.Err() == nil
	s.mu.Unlock()
	news()
}

func (s *story) soFar() chapter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chapter
}

// upTo returns the last frame that the lines which were made last are about: the
// story may have gone on since.
func (s *story) upTo() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

// isBroken reports whether there are frames that are missing in it. There need be
// no story.
func (s *story) isBroken() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// running reports whether a turn goes on: it has no end, on the tape that is
// recorded.
func (s *story) running(t *trace.Turn) bool { return t.Open() && !s.ended && t.Run == s.tapes-1 }

// session returns the session with that id, or the first that has a
// conversation; nil if there is none.
func (s *story) session(id string) *trace.Session {
	var first *trace.Session
	for _, session := range s.trace.Sessions {
		if session.ID == id {
			return session
		}
		if first == nil && len(session.Conversation.Entities) > 0 {
			first = session
		}
	}
	return first
}
