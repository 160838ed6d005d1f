package screen

import (
	"context"
	"sync"
	"time"

	"github.com/rivo/tview"
)

// drawEvery is the shortest time between two drawings of what other goroutines have found.
// Keys are drawn at once.
const drawEvery = 50 * time.Millisecond

// The updates pass what other goroutines have found to the event loop, many at a time.
type updates struct {
	ready  chan struct{} // holds one
	urgent chan struct{} // holds one

	mu    sync.Mutex
	queue []func()
}

func newUpdates() *updates {
	return &updates{ready: make(chan struct{}, 1), urgent: make(chan struct{}, 1)}
}

// wake says that there is something new.
func (u *updates) wake() {
	select {
	case u.ready <- struct{}{}:
	default:
	}
}

// hurry says that there is something that the user waits for.
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

// run makes the event loop call the posted functions and refresh, and draw, until ctx is
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
			// This never returns if the event loop has ended by itself because the terminal
			// is gone.
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
