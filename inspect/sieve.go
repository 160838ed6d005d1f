package inspect

import (
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
	open   []uint64  // requests without a response, in order, if the filter asks for them

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
	if s.open != nil {
		_, s.subject.Open = slices.BinarySearch(s.open, f.Seq)
	}
	return s.filter.Match(&s.subject)
}

// see makes a frame the subject, with what stood before it.
func (s *sieve) see(part int, f *dialect.Frame) {
	if part != s.part {
		s.part = part
		s.track.Next(s.start)
	}
	s.subject = s.track.See(f)
}
