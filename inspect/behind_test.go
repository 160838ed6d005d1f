package inspect

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// TestWorker: who starts something else, or stops it, goes on at once; one thing
// begins when the other has ended.
func TestWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w worker
		w.stop()() // nothing was started
		release := make(chan struct{})
		var order []string
		do := func(name string) func(context.Context) {
			return func(ctx context.Context) {
				order = append(order, "begin "+name)
				<-release // whatever its context says
				order = append(order, "end "+name)
			}
		}
		w.start(t.Context(), do("a"))
		synctest.Wait()
		w.start(t.Context(), do("b"))
		w.start(t.Context(), do("c"))
		wait := w.stop()
		synctest.Wait()
		if got, want := strings.Join(order, ", "), "begin a"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		close(release)
		wait()
		if got, want := strings.Join(order, ", "), "begin a, end a, begin b, end b, begin c, end c"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestLeaveSearch: Esc ends a search at once, also while that cannot look up.
func TestLeaveSearch(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		a := newApp(t.Context(), Inspector{Store: store}, nil)
		release := make(chan struct{})
		s := a.search.results
		a.search.start(t.Context(), func(ctx context.Context) {
			<-release
			s.run(ctx, Search{Store: a.Store, Filter: filter.Filter{}}, func() {})
		})
		a.leaveSearch()
		if got, want := a.search.progress(), " · ended at 0 %"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		wait := a.search.stop()
		close(release)
		wait()
		if got, want := a.search.progress(), " · ended at 0 %"; got != want {
			t.Errorf("when it has ended: got %q, want %q", got, want)
		}
	})
}

// TestHuntEnds: a hunt looks at few frames after it was ended, and tells how far it
// is until then.
func TestHuntEnds(t *testing.T) {
	l := newLedger(func() {})
	const frames = 100_000
	for seq := uint64(1); seq <= frames; seq++ {
		f := dialect.Frame{}
		f.Seq = seq
		l.last = l.add(&f, nil, seq-1)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told uint64
	looked := 0
	h := hunt{from: 1, step: 1, may: func(*dialect.Frame) bool { looked++; return false }}
	found, err := h.run(l.columns, nil, gauge{ctx, new(int), func(seq uint64) {
		if told = seq; seq > frames/2 {
			cancel()
		}
	}})
	if err != nil || found != 0 && found < frames/2 || told < frames/2 || looked > frames/2+1000 {
		t.Errorf("got frame %d and %v, told %d, after looking at %d", found, err, told, looked)
	}
}
