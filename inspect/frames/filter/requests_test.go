package filter_test

import (
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
)

// TestRequestsForget: of many requests the oldest are forgotten, and those that are
// done before others.
func TestRequestsForget(t *testing.T) {
	const kept = 1 << 16
	for _, tt := range []struct {
		name      string
		done      func(seq uint64) bool
		forgotten []uint64
		found     []uint64
	}{
		{"none done", func(uint64) bool { return false }, []uint64{1, kept / 2}, []uint64{kept/2 + 1, kept, kept + 1}},
		{"all done", func(uint64) bool { return true }, []uint64{1, kept / 2, kept}, []uint64{kept + 1}},
		{"a few open", func(seq uint64) bool { return seq%100 != 0 }, []uint64{1, kept - 1}, []uint64{100, 6500, 65500, kept + 1}},
	} {
		var requests filter.Requests[uint64]
		for seq := uint64(1); seq <= kept; seq++ {
			requests.Add(filter.Request[uint64]{Seq: seq, Note: 2 * seq})
			requests.Find(seq).Done = tt.done(seq)
		}
		if r := requests.Find(1); r == nil {
			t.Errorf("%s: the first is forgotten too early", tt.name)
		}
		requests.Add(filter.Request[uint64]{Seq: kept + 1, Note: 2 * (kept + 1)})
		for _, seq := range tt.forgotten {
			if r := requests.Find(seq); r != nil {
				t.Errorf("%s: got %v, want it forgotten", tt.name, *r)
			}
		}
		for _, seq := range tt.found {
			if r := requests.Find(seq); r == nil || r.Seq != seq || r.Note != 2*seq {
				t.Errorf("%s: got %v for %d", tt.name, r, seq)
			}
		}
		for i, r := range requests.All()[1:] {
			if before := requests.All()[i]; before.Seq >= r.Seq {
				t.Fatalf("%s: %d stands before %d", tt.name, before.Seq, r.Seq)
			}
		}
	}
}
