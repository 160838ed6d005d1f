package inspect

import (
	"context"
	"sync"
	"time"

	"github.com/rivo/tview"
)

// drawEvery is the shortest time between two drawings for what other goroutines
// have found. Keys are drawn at once.
const drawEvery = 50 * time.Millisecond

// A feed brings to the event loop what other goroutines have found, gathered
// into few updates.
type feed struct {
	ready chan struct{} // holds one
	haste chan struct{} // holds one

	mu    sync.Mutex
	queue []func()
}

func newFeed() *feed { return &feed{ready: make(chan struct{}, 1), haste: make(chan struct{}, 1)} }

// poke says that there is something new.
func (f *feed) poke() {
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// hurry says that there is something that the user waits for.
func (f *feed) hurry() {
	f.poke()
	select {
	case f.haste <- struct{}{}:
	default:
	}
}

// put has the event loop call a function.
func (f *feed) put(do func()) {
	f.mu.Lock()
	f.queue = append(f.queue, do)
	f.mu.Unlock()
	f.poke()
}

func (f *feed) take() []func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	queue := f.queue
	f.queue = nil
	return queue
}

// run has the event loop call refresh and what was put, and draw, until ctx is
// done. ended is closed when there is no event loop any more.
func (f *feed) run(ctx context.Context, ui *tview.Application, ended <-chan struct{}, refresh func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.ready:
		}
		done := make(chan struct{})
		go func() {
			// Where the event loop ends by itself, since the terminal has gone
			// away, this never returns.
			ui.QueueUpdateDraw(func() {
				for _, do := range f.take() {
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
		case <-f.haste:
		case <-time.After(drawEvery):
		}
	}
}
