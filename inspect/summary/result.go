package summary

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// A Source is one tape, or what of it is to be summed up.
type Source struct {
	Tape   record.Info
	Frames iter.Seq2[dialect.Frame, error]
}

// Of returns the summary of tapes, by time, and why parts of them cannot be read. Of
// the last one, if it is being recorded, it takes what there is.
func Of(tapes ...Source) (s Summary, broken []error) {
	tr := &trace.Trace{Brief: true}
	var t Tally
	for _, source := range tapes {
		tr.Next(source.Tape.Connection)
		t.End(tr)
		t.Begin(source.Tape)
		for f, err := range source.Frames {
			if err != nil {
				broken = append(broken, err)
				t.Broken()
				continue
			}
			tr.Add(&f)
			t.Take(&f, tr)
		}
	}
	if len(tapes) > 0 && !tapes[len(tapes)-1].Tape.Live {
		tr.End()
		t.End(tr)
	}
	return t.Summary(), broken
}

// Summary returns what the frames tell that were taken until now.
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

// spreadOf returns what to say of times, nil if there are none.
func spreadOf(t *stats.Timing) *Spread {
	median, ok := t.Took.Percentile(50)
	if !ok {
		return nil
	}
	return &Spread{t.Took.Count(), seconds(median), seconds(t.Took.Max()), Frame{Run: t.Slowest.Run, Seq: t.Slowest.Seq}}
}

// calls returns the methods that were called, most first.
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
