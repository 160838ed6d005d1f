package summary

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace"
)

// Of returns the summary of tapes, in order of time, and why parts of them cannot be read.
// If the last one is still being recorded, it takes what has been recorded so far.
func Of(ctx context.Context, r *reading.Reader) (s Summary, broken []error) {
	h := reading.History{Trace: trace.Trace{Brief: true}}
	var t Tally
	live := false
	for e := range r.Read(ctx) {
		own := h.Take(e)
		if e.Err != nil {
			broken = append(broken, e.Err)
		}
		switch {
		case own:
			t.Take(&e.Frame, &h.Trace)
		case e.Part == nil || e.Part.IsServer():
		case e.Kind == reading.Begins:
			t.End(&h.Trace) // of the tape before
			t.Begin(e.Part.Info)
			live = e.Part.Info.Live
		case e.Err != nil:
			t.Broken()
		}
	}
	if h.Calls.End(); !live {
		h.Trace.End()
		t.End(&h.Trace)
	}
	s = t.Summary()
	var calls stats.ServerCalls
	for one := range h.Servers() {
		calls.Add(one, 0)
	}
	s.SetServers(calls.List())
	return s, broken
}

// Summary returns the summary of the frames taken so far.
func (t *Tally) Summary() Summary {
	s := t.sum
	s.Tapes = slices.Clone(s.Tapes)
	s.Took, s.Untimed = t.took()
	for _, turn := range t.turns {
		if turn.Run == len(s.Tapes)-1 {
			s.Time.spend(turn, t.tape.last)
		}
	}
	s.Turns.Running, s.Turns.Ends = len(t.turns), t.ends.counts()
	if s.Turns.Count == 0 {
		s.Calls, s.Time.Latency = t.calls(), spreadOf(&t.latency)
	}
	s.Time.FirstOutput = spreadOf(&t.output)
	s.Usage = t.usage()
	s.Failures.First, s.Failures.Kinds = slices.Clone(s.Failures.First), t.failedKinds()
	s.Slow = t.slowKinds()
	for session := range t.sessions {
		if s.Sessions == 1 {
			s.Session, s.Title = session.ID, session.Title
		}
	}
	t.name(&s)
	return s
}

// spreadOf returns the spread of times, nil if there are none.
func spreadOf(t *stats.Timing) *Spread {
	median, ok := t.Took.Percentile(50)
	if !ok {
		return nil
	}
	return &Spread{t.Took.Count(), seconds(median), seconds(t.Took.Max()), Frame{Run: t.Slowest.Run, Seq: t.Slowest.Seq}}
}

// calls returns the methods that were called, the most frequent first.
func (t *Tally) calls() []Call {
	var list []Call
	for name, m := range t.methods {
		list = append(list, Call{name, m.calls, m.tools.counts()})
	}
	slices.SortFunc(list, func(a, b Call) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Method, b.Method)) })
	return list
}

// name gives the frames of a summary their labels.
func (t *Tally) name(s *Summary) {
	label := func(f *Frame) {
		switch {
		case t.Label != nil:
			f.Label = t.Label(f.Seq)
		case len(s.Tapes) > 1:
			f.Label = fmt.Sprintf("%d.%d", f.Run+1, f.Seq)
		default:
			f.Label = fmt.Sprint(f.Seq)
		}
	}
	for _, spread := range []*Spread{s.Time.FirstOutput, s.Time.Latency} {
		if spread != nil {
			label(&spread.Frame)
		}
	}
	if s.Time.Slowest != nil {
		slowest := *s.Time.Slowest
		label(&slowest.Frame)
		s.Time.Slowest = &slowest
	}
	for i := range s.Failures.First {
		label(&s.Failures.First[i].Frame)
	}
	for i := range s.Failures.Kinds {
		label(&s.Failures.Kinds[i].Frame)
	}
	for i := range s.Slow {
		label(&s.Slow[i].Frame)
	}
}
