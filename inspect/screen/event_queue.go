package screen

import (
	"context"
	"sync"
	"time"

	"github.com/rivo/tview"
)

// drawEvery is the shortest time between two drawings of other goroutines' results. Keys
// take effect at once.
const drawEvery = 50 * time.Millisecond

// The updates pass other goroutines' results to the event loop in batches.
type updates struct {
	ready  chan struct{} // has capacity one
	urgent chan struct{} // has capacity one

	mu    sync.Mutex
	queue []func()
}

func newUpdates() *updates {
	return &updates{ready: make(chan struct{}, 1), urgent: make(chan struct{}, 1)}
}

// wake signals that there is something new.
func (u *updates) wake() {
	select {
	case u.ready <- struct{}{}:
	default:
	}
}

// hurry signals that there is something that the user is waiting for.
func (u *updates) hurry() {
	u.wake()
	select {
	case u.urgent <- struct{}{}:
	default:
	}
}

// post makes the event loop call a function.
func (u *updates) post(do func()) {
	u.mu.Lock()
	u.queue = append(u.queue, do)
	u.mu.Unlock()
	u.wake()
}

func (u *updates) taken() []func() {
	u.mu.Lock()
	defer u.mu.Unlock()
	queue := u.queue
	u.queue = nil
	return queue
}

// run makes the event loop call the posted functions, refresh and draw, until ctx is
// done. ended is closed when the event loop has ended.
func (u *updates) run(ctx context.Context, ui *tview.Application, ended <-chan struct{}, refresh func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.ready:
		}
		done := make(chan struct{})
		go func() {
			// This never returns if the event loop has ended on its own because the
			// terminal is gone.
			ui.QueueUpdateDraw(func() {
				for _, do := range u.taken() {
					do()
				}
				refresh()
			})
			close(done)
		}()
		select {
		case <-ended:
			return
		case <-done:
		}
		select {
		case <-ctx.Done():
			return
		case <-u.urgent:
		case <-time.After(drawEvery):
		}
	}
}

// A worker runs one task at a time in the background. The event loop starts and stops it
// without ever waiting for it.
type worker struct {
	cancel func()        // nil: nothing was started
	ended  chan struct{} // closed when the last task has ended; nil: nothing was started
}

// Start cancels the current task, and starts another one when that has ended. The task
// runs until it returns or its context is done.
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
