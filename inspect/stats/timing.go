package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/acptap/acptap/record/trace"
)

// A Timing says how often something happened, and how long it took.
type Timing struct {
	N      int    // how many have ended
	Failed int    // how many of those failed
	Open   int    // how many have no end, and therefore no time
	Took   Series // ns, of those that ended at a known time

	Slowest Place // of the slowest one
}

// A Place is a frame on one of several tapes.
type Place struct {
	Run int // index of the tape
	Seq uint64
}

// Total returns how many have begun.
func (t *Timing) Total() int { return t.N + t.Open }

// End counts one that has ended. began is where it began.
func (t *Timing) End(failed bool, took time.Duration, timed bool, began Place) {
	if t.N++; failed {
		t.Failed++
	}
	if timed && t.Took.Add(int64(took)) {
		t.Slowest = began
	}
}

func (t *Timing) merge(o *Timing) {
	if o.Took.n > 0 && (t.Took.n == 0 || o.Took.max > t.Took.max) {
		t.Slowest = o.Slowest
	}
	t.N, t.Failed, t.Open = t.N+o.N, t.Failed+o.Failed, t.Open+o.Open
	t.Took.Merge(&o.Took)
}

// Slowest returns the n slowest calls, or fewer, slowest first. It ignores calls without
// an end or with unknown times.
func Slowest(calls []*trace.Call, n int) []*trace.Call {
	var answered []*trace.Call
	for _, c := range calls {
		if !c.Open() && !c.Untimed {
			answered = append(answered, c)
		}
	}
	slices.SortStableFunc(answered, func(a, b *trace.Call) int { return cmp.Compare(b.Latency(), a.Latency()) })
	return answered[:min(len(answered), n)]
}
