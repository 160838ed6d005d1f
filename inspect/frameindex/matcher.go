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

	findings func(seq uint64) []filter.Finding // on the timeline; nil: nobody has judged it

	servers []string // on whose tapes the parts of the timeline are; nil: nobody has said

	past    bool // the filter asks for what stood before
	track   filter.Tracker
	part    int            // of the timeline, that track is at
	subject filter.Subject // of the frame that was seen last
	now     state          // of it
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

// KnowFindings says what is wrong with the frames of the timeline, each by its number
// there.
func (s *Matcher) KnowFindings(of func(seq uint64) []filter.Finding) { s.findings = of }

// KnowServers says which parts of a timeline are tapes of servers that a recorded agent
// started.
func (s *Matcher) KnowServers(t *Timeline) {
	s.servers = nil
	for _, p := range t.Parts {
		s.servers = append(s.servers, p.Info.Start.Parent.Server)
	}
}

// Matches takes the next frame, which is on that part of the timeline.
func (s *Matcher) Matches(part int, f *dialect.Frame) bool {
	if s.past {
		s.Observe(part, f)
	} else {
		s.subject.Frame, s.subject.Start = f, s.start
	}
	if part < len(s.servers) {
		s.subject.Server = s.servers[part]
	}
	if s.Filter.NeedsFuture() {
		s.subject.Open, s.subject.Unanswered = s.isOpen(f), f.Seq <= s.known && s.open.IsUnanswered(f)
	}
	if s.findings != nil {
		s.subject.Findings = s.findings(f.Seq)
	}
	s.now = state{s.Filter.Match(&s.subject), s.subject.Failure() != dialect.NoFailure}
	if f.Asks() {
		s.remember(f)
	}
	return s.now.shown
}

// remember notes what may become of a request.
func (s *Matcher) remember(f *dialect.Frame) {
	now, by := s.now, f.Failure() != dialect.NoFailure
	w := waiting{now, state{now.shown, by}, state{now.shown, by || f.NeedsAnswer()}}
	if s.Filter.NeedsFuture() {
		if !s.subject.Open {
			return
		}
		s.subject.Open, s.subject.Unanswered = false, false
		w.answered.shown = s.Filter.Match(&s.subject)
		s.subject.Open, s.subject.Unanswered = true, f.NeedsAnswer()
		w.never.shown = s.Filter.Match(&s.subject)
	}
	s.requests.Add(filter.Request[waiting]{Seq: f.Seq, Note: w})
}

// A state is what is known of a frame: whether it is shown, and is a failure.
type state struct{ shown, fails bool }

// A waiting request has a state now, one if an answer comes, and one if none ever
// does.
type waiting struct{ now, answered, never state }

// The openRequests are what is known of requests whose responses come later.
type openRequests struct {
	open     filter.OpenRequests // of the frames up to known
	known    uint64
	requests filter.Requests[waiting]
}

// isOpen reports whether a frame is a request without an answer, as far as is known
// when the scan gets there: one that was recorded since has none yet.
func (u *openRequests) isOpen(f *dialect.Frame) bool {
	if f.Seq > u.known {
		return f.Asks()
	}
	return u.open.Has(f.Seq)
}

// answered yields the requests that a frame answers, where that changes their state.
func (u *openRequests) answered(f *dialect.Frame) iter.Seq2[uint64, state] {
	return func(yield func(uint64, state) bool) {
		for reply := range f.Replies() {
			r := u.requests.Find(reply.Request)
			if r == nil || r.Done {
				continue
			}
			r.Done = true
			if w := r.Note; w.answered != w.now && !yield(r.Seq, w.answered) {
				return
			}
		}
	}
}

// unanswered yields the requests that wait still and will get no answer, where that
// changes their state.
func (u *openRequests) unanswered() iter.Seq2[uint64, state] {
	return func(yield func(uint64, state) bool) {
		for i := range u.requests.All() {
			r := &u.requests.All()[i]
			if r.Done {
				continue
			}
			r.Done = true
			if w := r.Note; w.never != w.now && (w.never.shown || w.now.shown) && !yield(r.Seq, w.never) {
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
