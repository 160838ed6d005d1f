package stats

import "time"

// A Timing is how often something happened, and how long it took.
type Timing struct {
	N      int    // how many have ended
	Failed int    // how many of those failed
	Open   int    // how many have no end, and so no time
	Took   Series // ns, of those that have ended at a known time

	Slowest Place // of the one that took longest
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
