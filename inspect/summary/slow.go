package summary

import (
	"slices"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
)

// A slowness gathers what exceeded its limit.
type slowness struct {
	kinds [dialect.Hung + 1]Slow

	// of the current tape
	requests filter.Requests[struct{}]
	lull     dialect.Lull
}

// next begins the next tape.
func (s *slowness) next() {
	s.requests, s.lull = filter.Requests[struct{}]{}, dialect.Lull{}
}

// take processes a frame.
func (s *slowness) take(f *dialect.Frame, run int) {
	took := s.lull.Before(f)
	s.requests.Observe(f, struct{}{}, func(q *filter.Request[struct{}], _ *dialect.Annotation) {
		if latency, ok := q.Latency(f); ok && f.Slow() == dialect.Hung {
			took = latency
		}
	})
	what := f.Slow()
	if what == dialect.NotSlow {
		return
	}
	k := &s.kinds[what]
	if k.Count++; k.Count == 1 || seconds(took) > k.Longest {
		k.Kind, k.Longest, k.Frame = what.String(), seconds(took), Frame{Run: run, Seq: f.Seq}
	}
}

// list returns the kinds that occurred.
func (s *slowness) list() []Slow {
	return slices.DeleteFunc(slices.Clone(s.kinds[:]), func(k Slow) bool { return k.Count == 0 })
}
