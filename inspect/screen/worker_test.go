package screen

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
)

// TestWorker: starting or stopping a task never blocks; a task begins when the previous one
// has ended.
func TestWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w worker
		w.Stop()() // nothing was started
		release := make(chan struct{})
		var order []string
		do := func(name string) func(context.Context) {
			return func(ctx context.Context) {
				order = append(order, "begin "+name)
				<-release // whatever its context says
				order = append(order, "end "+name)
			}
		}
		w.Start(t.Context(), do("a"))
		synctest.Wait()
		w.Start(t.Context(), do("b"))
		w.Start(t.Context(), do("c"))
		wait := w.Stop()
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
