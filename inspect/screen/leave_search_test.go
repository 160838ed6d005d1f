package screen

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/record"
)

// TestLeaveSearch: Esc ends a search at once, also while that cannot look up.
func TestLeaveSearch(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		a := newApp(t.Context(), Inspector{Store: store}, nil)
		release := make(chan struct{})
		s := a.search.results
		a.search.Start(t.Context(), func(ctx context.Context) {
			<-release
			s.run(ctx, frameindex.Search{Store: a.Store, Filter: filter.Filter{}}, func(do func()) { do() })
		})
		a.leaveSearch()
		if got, want := a.search.progress(), " · ended at 0 %"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		wait := a.search.Stop()
		close(release)
		wait()
		if got, want := a.search.progress(), " · ended at 0 %"; got != want {
			t.Errorf("when it has ended: got %q, want %q", got, want)
		}
	})
}
