package frameindex

import (
	"iter"
	"math"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
)

// A Matcher says which frames of a timeline fit a filter. It is given all of them in
// their order.
type Matcher struct {
	Filter       filter.Filter
	start        time.Time // when the first tape began, in the user's time zone
	openRequests           // if the filter asks for it

	findings func(seq uint64) []filter.Finding // on the timeline; nil: it was not checked

	timeline *Timeline // nil: unknown

	past    bool // the filter asks about earlier frames
	track   filter.Tracker
	part    int                     // of the agent's tapes, that track is at
	servers map[int]*filter.Tracker // of the tapes of servers, by part
	subject filter.Subject          // of the frame that was seen last
	local   dialect.Frame           // that frame, with the number on its tape
	now     state                   // of it
}

// NewMatcher returns a matcher at the beginning of a timeline. start is when the first
// tape began, in the time zone of the user.
func NewMatcher(want filter.Filter, start time.Time) Matcher {
	s := Matcher{Filter: want, start: start, past: want.NeedsPast()}
	s.track.Next(start)
	return s
}

// KnowOpen says which requests are open, whatever is recorded from now on.
func (s *Matcher) KnowOpen(requests Open) { s.open, s.known = requests, math.MaxUint64 }

// KnowFindings says what is wrong with the frames of the timeline, each by its number
// there.
func (s *Matcher) KnowFindings(of func(seq uint64) []filter.Finding) { s.findings = of }

// Know sets the timeline of the frames, which says where they are.
func (s *Matcher) Know(t *Timeline) { s.timeline = t }

// Matches takes the next frame, which is on that part of the timeline.
func (s *Matcher) Matches(part int, f *dialect.Frame) bool {
	if s.past {
		s.Observe(part, f)
	} else {
		s.subject.Frame, s.subject.Start = f, s.start
	}
	if s.timeline != nil {
		s.place(part, f)
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

// place notes of the subject on which tape it is.
func (s *Matcher) place(part int, f *dialect.Frame) {
	s.subject.Server, s.subject.ServerOf = s.timeline.Part(part).Info.Start.Parent.Server, s.timeline.SessionOf(part)
	if s.timeline.order != nil { // numbers are those of the tapes, as where these are shown alone
		s.local = *f
		s.local.Seq = s.timeline.PlaceOf(f.Seq).Seq
		s.subject.Frame = &s.local
	}
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

// A state says whether a frame is shown, and is a failure.
type state struct{ shown, fails bool }

// A waiting request has a state now, one if an answer comes, and one if none ever
// does.
type waiting struct{ now, answered, never state }

// The openRequests are what is known of requests whose responses come later.
type openRequests struct {
	open     Open // of the frames up to known
	known    uint64
	requests filter.Requests[waiting]
}

// isOpen reports whether a frame is a request known to have no answer. A request after
// known has none yet.
func (u *openRequests) isOpen(f *dialect.Frame) bool {
	if f.Seq > u.known {
		return f.Asks()
	}
	return f.Asks() && u.open.Has(f.Seq)
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

// unanswered yields the waiting requests that meant selects and that will get no answer, if
// that changes their state.
func (u *openRequests) unanswered(meant func(seq uint64) bool) iter.Seq2[uint64, state] {
	return func(yield func(uint64, state) bool) {
		for i := range u.requests.All() {
			r := &u.requests.All()[i]
			if r.Done || !meant(r.Seq) {
				continue
			}
			r.Done = true
			if w := r.Note; w.never != w.now && (w.never.shown || w.now.shown) && !yield(r.Seq, w.never) {
				return
			}
		}
	}
}

// Observe makes a frame the subject, with what earlier frames say about it.
func (s *Matcher) Observe(part int, f *dialect.Frame) { s.subject = s.tracker(part).Observe(f) }

// tracker returns what follows the tape of a part. Sessions go on from one of the agent's
// tapes to the next.
func (s *Matcher) tracker(part int) *filter.Tracker {
	if s.timeline != nil && part >= len(s.timeline.agents) {
		one := s.servers[part]
		if one == nil {
			if s.servers == nil {
				s.servers = map[int]*filter.Tracker{}
			}
			one = &filter.Tracker{}
			one.Next(s.start)
			s.servers[part] = one
		}
		return one
	}
	if part != s.part {
		s.part = part
		s.track.Next(s.start)
	}
	return &s.track
}
