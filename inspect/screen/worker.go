package screen

import "context"

// A worker runs one task at a time in the background. The event loop starts and stops it,
// and never waits for it.
type worker struct {
	cancel func()        // nil: nothing was started
	ended  chan struct{} // closed when the last task has ended; nil: nothing was started
}

// Start cancels the current task, and starts another when that has ended. The task runs
// until it returns or its context is done.
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

// Stop cancels the current task. The returned function blocks until the task has ended.
func (t *worker) Stop() (wait func()) {
	if t.cancel == nil {
		return func() {}
	}
	t.cancel()
	ended := t.ended
	return func() { <-ended }
}
