package inspect

import (
	"iter"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/proxy/dialect"
)

// A sieve lets those frames of a reel pass that a filter wants. It is given all
// of them in their order.
type sieve struct {
	filter filter.Filter
	start  time.Time // when the first tape began, in the user's time zone
	future           // if the filter asks for it

	past    bool // the filter asks for what stood before
	track   filter.Tracker
	part    int            // of the reel, that track is at
	subject filter.Subject // of the frame that was seen last
}

func newSieve(want filter.Filter, start time.Time) sieve {
	s := sieve{filter: want, start: start, past: want.NeedsPast()}
	s.track.Next(start)
	return s
}

// wants takes the next frame, which is on that part of the reel.
func (s *sieve) wants(part int, f *dialect.Frame) bool {
	if s.past {
		s.see(part, f)
	} else {
		s.subject.Frame, s.subject.Start = f, s.start
	}
	if !s.filter.NeedsFuture() {
		return s.filter.Match(&s.subject)
	}
	s.subject.Open = s.isOpen(f)
	shown := s.filter.Match(&s.subject)
	if s.subject.Open {
		s.subject.Open = false
		if later := s.filter.Match(&s.subject); later != shown {
			s.unsure.Add(filter.Request[bool]{Seq: f.Seq, Note: later})
		}
	}
	return shown
}

// A future is what is known of requests whose answers come later.
type future struct {
	open   []uint64 // requests without a response, in order, of the frames up to known
	known  uint64
	unsure filter.Asked[bool] // open requests that are wanted only as long as they are, or only then; with what they will be
}

// isOpen reports whether a frame is a request without an answer, as far as is known
// when the scan gets there: one that was recorded since has none yet.
func (u *future) isOpen(f *dialect.Frame) bool {
	if f.Seq > u.known {
		return f.Asks()
	}
	_, open := slices.BinarySearch(u.open, f.Seq)
	return open
}

// turns yields the earlier frames that are wanted from here on, or not any more,
// since this one answers them.
func (u *future) turns(f *dialect.Frame) iter.Seq2[uint64, bool] {
	return func(yield func(uint64, bool) bool) {
		for reply := range f.Replies() {
			r := u.unsure.Find(reply.Request)
			if r == nil || r.Done {
				continue
			}
			r.Done = true
			if !yield(r.Seq, r.Note) {
				return
			}
		}
	}
}

// see makes a frame the subject, with what stood before it.
func (s *sieve) see(part int, f *dialect.Frame) {
	if part != s.part {
		s.part = part
		s.track.Next(s.start)
	}
	s.subject = s.track.See(f)
}
