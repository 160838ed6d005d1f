package frameindex

import (
	"iter"
	"math"
	"time"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/proxy/dialect"
)

// A Matcher says which frames of a timeline fit a filter. It is given all of them in
// their order.
type Matcher struct {
	Filter       filter.Filter
	start        time.Time // when the first tape began, in the user's time zone
	openRequests           // if the filter asks for it

	past    bool // the filter asks for what stood before
	track   filter.Tracker
	part    int            // of the timeline, that track is at
	subject filter.Subject // of the frame that was seen last
}

// NewMatcher returns a matcher at the beginning of a timeline. start is when the first
// tape began, in the time zone of the user.
func NewMatcher(want filter.Filter, start time.Time) Matcher {
	s := Matcher{Filter: want, start: start, past: want.NeedsPast()}
	s.track.Next(start)
	return s
}

// KnowOpen says which requests are open, whatever is recorded from now on.
func (s *Matcher) KnowOpen(requests filter.OpenRequests) { s.open, s.known = requests, math.MaxUint64 }

// Matches takes the next frame, which is on that part of the timeline.
func (s *Matcher) Matches(part int, f *dialect.Frame) bool {
	if s.past {
		s.Observe(part, f)
	} else {
		s.subject.Frame, s.subject.Start = f, s.start
	}
	if !s.Filter.NeedsFuture() {
		return s.Filter.Match(&s.subject)
	}
	s.subject.Open = s.isOpen(f)
	shown := s.Filter.Match(&s.subject)
	if s.subject.Open {
		s.subject.Open = false
		if later := s.Filter.Match(&s.subject); later != shown {
			s.undecided.Add(filter.Request[bool]{Seq: f.Seq, Note: later})
		}
	}
	return shown
}

// The openRequests are what is known of requests whose responses come later.
type openRequests struct {
	open      filter.OpenRequests // of the frames up to known
	known     uint64
	undecided filter.Requests[bool] // open requests that are wanted only as long as they are, or only then; with what they will be
}

// isOpen reports whether a frame is a request without an answer, as far as is known
// when the scan gets there: one that was recorded since has none yet.
func (u *openRequests) isOpen(f *dialect.Frame) bool {
	if f.Seq > u.known {
		return f.Asks()
	}
	return u.open.Has(f.Seq)
}

// changes yields the earlier frames that are wanted from here on, or not any more,
// since this one answers them.
func (u *openRequests) changes(f *dialect.Frame) iter.Seq2[uint64, bool] {
	return func(yield func(uint64, bool) bool) {
		for reply := range f.Replies() {
			r := u.undecided.Find(reply.Request)
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

// Observe makes a frame the subject, with what stood before it.
func (s *Matcher) Observe(part int, f *dialect.Frame) {
	if part != s.part {
		s.part = part
		s.track.Next(s.start)
	}
	s.subject = s.track.Observe(f)
}
