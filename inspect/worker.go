package inspect

import (
	"context"
	"sync"
)

// A worker does things in the background, one at a time.
type worker struct {
	cancel  func() // nil: nothing was started
	running sync.WaitGroup
}

// start ends what runs, and begins something else. That goes on until it has
// ended or its context is done.
func (t *worker) start(ctx context.Context, do func(context.Context)) {
	t.stop()
	ctx, t.cancel = context.WithCancel(ctx)
	t.running.Go(func() { do(ctx) })
}

// stop ends what runs, and waits for it.
func (t *worker) stop() {
	if t.cancel != nil {
		t.cancel()
		t.running.Wait()
		t.cancel = nil
	}
}
