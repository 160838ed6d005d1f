package filter

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Subject is a frame together with what other frames say about it. A Tracker fills in all
// of it; a caller that shows frames may already know some. Zero fields are unknown and
// match no term.
type Subject struct {
	*dialect.Frame
	Start   time.Time     // when the tape began, in the user's time zone
	Latency time.Duration // of a response: since its request
	Turn    int           // of the session, from 1, that the frame belongs to
	Tool    Tool          // that the frame is about, where that is more than the frame itself says
	Open    bool          // a request that has no response on the tape, and was not cancelled (MCP)

	Unanswered bool // that is a failure: the tape has ended

	Server   string // on whose tape the frame is, if an agent that was recorded started it
	ServerOf string // the session of that agent's for which it did

	Findings []Finding // what is wrong with the frame, by the rules of acptap check
}

// Failure returns in which way the frame tells that something went wrong, with what
// only others know of it.
func (s *Subject) Failure() dialect.Failure {
	if s.Unanswered {
		return dialect.Unanswered
	}
	return s.Frame.Failure()
}

// bare reports whether the bytes of the frame are not at hand.
func (s *Subject) bare() bool { return s.Raw == nil && s.Size > 0 }

// messages reports whether fits accepts the message, or one of those in a batch, where i is
// its place.
func (s *Subject) messages(fits func(i int, message []byte) bool) verdict {
	switch {
	case s.bare():
		return perhaps
	case s.Kind != wire.Batch:
		return sure(fits(0, s.Raw))
	}
	found := false
	wire.Entries(s.Raw, func(i int, entry []byte) bool {
		found = fits(i, entry)
		return !found
	})
	return sure(found)
}
