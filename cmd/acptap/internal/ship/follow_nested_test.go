package ship_test

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/testdata/collectortest"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
	"github.com/acptap/acptap/record/trace/spans"
)

// TestFollowServers: what servers of an agent were asked while it was recorded arrives with
// the ids that it has when all of the tapes are known.
func TestFollowServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := record.OpenStore(t.TempDir()), collectortest.Direct(t)
		s := to(t, store, c)
		done := make(chan error)
		from := time.Now()
		play(t, store, func() {
			s.Patience = 0
			go func() { done <- s.Run(t.Context(), &from, true) }()
		})
		if err := <-done; err != nil {
			t.Error(err)
		}
		got, want := c.Times(), wanted(t, store)
		if !maps.Equal(got, want) {
			t.Errorf("got %d spans, want %d", len(got), len(want))
		}
		if n := len(c.Requests()); n < 5 {
			t.Errorf("all came in %d requests", n)
		}
		turns := map[string]string{} // the spans of turns, by their traces
		for _, set := range build(t, store, ids(t, store)...) {
			if first := set.Spans[0]; first.Kind == spans.Turn {
				turns[string(first.Trace[:])] = string(first.ID[:])
			}
		}
		begun := map[string]bool{}
		for _, r := range c.Requests() {
			for _, id := range r.Spans {
				begun[id.Trace] = begun[id.Trace] || turns[id.Trace] == "" || turns[id.Trace] == id.Span
				if !begun[id.Trace] {
					t.Errorf("%x arrived before its turn", id)
				}
			}
		}
		if len(turns) == 0 {
			t.Error("there are no turns")
		}
	})
}

// play records the tapes of an agent and its servers again, at the original times. It calls
// begun when the first of them has begun.
func play(t *testing.T, store *record.Store, begun func()) {
	t.Helper()
	type event struct {
		at  time.Time
		do  func()
		seq uint64
	}
	var events []event
	var agent string
	for _, name := range []string{"agent", "everything", "issues"} {
		file, err := record.OpenFile(filepath.Join("../../../../testdata/nested", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		info, err := file.Info()
		if err != nil {
			t.Fatal(err)
		}
		var to live
		events = append(events, event{info.Start.Time, func() {
			start := info.Start
			if start.Parent.Tape != "" {
				start.Parent.Tape = agent
			}
			r := recordtest.Record(t, store, start)
			if to = (live{t, r}); agent == "" {
				agent = r.Tape()
				begun()
			}
		}, 0})
		for f, err := range file.Frames(1) {
			if err != nil {
				t.Fatal(err)
			}
			frame := dialect.Frame{Frame: f.Frame}
			frame.Raw = slices.Clone(f.Raw)
			events = append(events, event{info.Start.Time.Add(f.At), func() {
				if err := to.Append(frame.Dir, frame.Origin, append(frame.Raw, '\n')); err != nil {
					t.Fatal(err)
				}
			}, f.Seq})
		}
		events = append(events, event{info.Start.Time.Add(info.Last + time.Second), func() { to.end() }, 0})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.seq, b.seq)) })
	for i, e := range events {
		if i > 0 {
			time.Sleep(e.at.Sub(events[i-1].at))
		}
		e.do()
	}
}
