package inspect

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/inspect/frameindex"
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
			s.run(ctx, frameindex.Search{Store: a.Store, Filter: filter.Filter{}}, func() {})
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
