package frameindex

import (
	"bytes"
	"iter"
	"math"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
)

// A Matcher decides which of a timeline's frames match a filter. It receives all frames
// in order.
type Matcher struct {
	Filter       filter.Filter
	start        time.Time // when the first tape began, in the user's time zone
	openRequests           // used if the filter needs it

	Findings func(seq uint64) []*conform.Finding // findings by number on the timeline; nil if it was not checked
	Timeline *Timeline                           // says which tape a frame is on; nil if unknown

	past    bool // the filter needs earlier frames
	track   filter.Tracker
	part    int                     // part of the agent's tape that track follows
	servers map[int]*filter.Tracker // trackers for servers' tapes, by part
	subject filter.Subject          // of the last frame
	local   dialect.Frame           // that frame, with its number on its tape
	now     state                   // state of that frame
}

// NewMatcher returns a matcher at the beginning of a timeline. start is when the first
// tape began, in the user's time zone.
func NewMatcher(want filter.Filter, start time.Time) Matcher {
	s := Matcher{Filter: want, start: start, past: want.NeedsPast()}
	s.track.Next(start)
	return s
}

// KnowOpen sets the requests that count as open, regardless of what is recorded from now on.
func (s *Matcher) KnowOpen(requests Open) { s.open, s.known = requests, math.MaxUint64 }

// Matches processes the next frame, which is on a part of the timeline, and reports
// whether it matches.
func (s *Matcher) Matches(part int, f *dialect.Frame) bool {
	if s.past {
		s.Observe(part, f)
	} else {
		s.subject.Frame, s.subject.Start = f, s.start
	}
	if s.Timeline != nil {
		s.place(part, f)
	}
	if s.Filter.NeedsFuture() {
		later := f.Seq > s.known // it has no response yet
		s.subject.Open, s.subject.Unanswered = f.Asks() && (later || s.open.Has(f.Seq)), !later && s.open.IsUnanswered(f)
		s.subject.Answer = s.open.Answer(f.Seq)
	}
	if s.Findings != nil {
		s.subject.Findings = s.Findings(f.Seq)
	}
	s.now = state{s.Filter.Match(&s.subject), s.subject.Failure() != dialect.NoFailure}
	if f.Asks() {
		s.remember(f)
	}
	return s.now.shown
}

// place records in the subject which tape it is on.
func (s *Matcher) place(part int, f *dialect.Frame) {
	s.subject.Server, s.subject.ServerOf = s.Timeline.Part(part).Info.Start.Parent.Server, s.Timeline.SessionOf(part)
	if s.Timeline.order != nil { // terms see the number on the frame's own tape, as if that were shown alone
		s.local = *f
		s.local.Seq = s.Timeline.PlaceOf(f.Seq).Seq
		s.subject.Frame = &s.local
	}
}

// remember records what may become of a request.
func (s *Matcher) remember(f *dialect.Frame) {
	now, by := s.now, f.Failure() != dialect.NoFailure
	w := waiting{now: now, answered: state{now.shown, by}, never: state{now.shown, by || f.NeedsAnswer()}}
	if s.Filter.NeedsFuture() {
		if !s.subject.Open {
			return
		}
		if dialect.Does(f.Method, dialect.AsksPermission) {
			w.asked = s.question()
		}
		s.subject.Open, s.subject.Unanswered = false, false
		w.answered.shown = s.Filter.Match(&s.subject)
		s.subject.Open, s.subject.Unanswered = true, f.NeedsAnswer()
		w.never.shown = s.Filter.Match(&s.subject)
	}
	s.requests.Add(filter.Request[waiting]{Seq: f.Seq, Note: w})
}

// question returns a copy of the subject, a request for a permission, as it is once it has
// an answer.
func (s *Matcher) question() *filter.Subject {
	asked := s.subject
	f := *asked.Frame
	f.Raw = bytes.Clone(f.Raw)
	asked.Frame, asked.Open, asked.Unanswered = &f, false, false
	return &asked
}

// A state says whether a frame is shown, and whether it is a failure.
type state struct{ shown, fails bool }

// waiting holds three states of an open request: the current one, the one if a response
// comes, and the one if none ever does.
type waiting struct {
	now, answered, never state
	asked                *filter.Subject // a request for a permission, if the filter may ask for the answer
}

// openRequests tracks requests whose responses come later.
type openRequests struct {
	open     Open // among the frames up to known
	known    uint64
	requests filter.Requests[waiting]
}

// answered yields the requests whose state changes because a frame answers them.
func (s *Matcher) answered(f *dialect.Frame) iter.Seq2[uint64, state] {
	return func(yield func(uint64, state) bool) {
		for reply := range f.Replies() {
			r := s.requests.Find(reply.Request)
			if r == nil || r.Done {
				continue
			}
			r.Done = true
			w := r.Note
			if w.asked != nil {
				w.asked.Answer = reply.Events
				w.answered.shown = s.Filter.Match(w.asked)
			}
			if w.answered != w.now && !yield(r.Seq, w.answered) {
				return
			}
		}
	}
}

// unanswered yields the waiting requests that meant selects and whose state changes
// because they will get no answer.
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

// Observe makes a frame the subject, adding what earlier frames reveal about it.
func (s *Matcher) Observe(part int, f *dialect.Frame) { s.subject = s.tracker(part).Observe(f) }

// tracker returns the tracker for a part. Sessions continue from one of the agent's tapes
// to the next.
func (s *Matcher) tracker(part int) *filter.Tracker {
	if s.Timeline != nil && part >= len(s.Timeline.agents) {
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
