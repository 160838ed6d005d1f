package screen

import "context"

// A worker does things in the background, one at a time. What has it done never
// waits for it: it is the event loop.
type worker struct {
	cancel func()        // nil: nothing was started
	ended  chan struct{} // closed when what was started last has ended; nil: nothing was
}

// Start ends what runs, and begins something else when that has ended. It goes on
// until it ends by itself or its context is done.
func (t *worker) Start(ctx context.Context, do func(context.Context)) {
	before := t.Stop()
	ctx, t.cancel = context.WithCancel(ctx)
	ended := make(chan struct{})
	t.ended = ended
	go func() {
		defer close(ended)
		before()
		do(ctx)
	}()
}

// Stop ends what runs. The function that it returns waits until that has ended.
func (t *worker) Stop() (wait func()) {
	if t.cancel == nil {
		return func() {}
	}
	t.cancel()
	ended := t.ended
	return func() { <-ended }
}
