package inspect

import (
	"context"
	"time"

	"github.com/acptap/acptap/inspect/frameindex"
	"github.com/acptap/acptap/record/termtext"
)

// A worker does things in the background, one at a time. What has it done never
// waits for it: it is the event loop.
type worker struct {
	cancel func()        // nil: nothing was started
	ended  chan struct{} // closed when what was started last has ended; nil: nothing was
}

// start ends what runs, and begins something else when that has ended. It goes on
// until it ends by itself or its context is done.
func (t *worker) start(ctx context.Context, do func(context.Context)) {
	before := t.stop()
	ctx, t.cancel = context.WithCancel(ctx)
	ended := make(chan struct{})
	t.ended = ended
	go func() {
		defer close(ended)
		before()
		do(ctx)
	}()
}

// stop ends what runs. The function that it returns waits until that has ended.
func (t *worker) stop() (wait func()) {
	if t.cancel == nil {
		return func() {}
	}
	t.cancel()
	ended := t.ended
	return func() { <-ended }
}

// inBackground does something that takes long, and has the event loop call what it
// returns, unless it was ended meanwhile. What was begun before is ended.
func (a *app) inBackground(do func(on frameindex.Progress) (then func())) {
	a.endSeek()
	a.seeking.start(a.ctx, func(ctx context.Context) {
		reported := time.Now()
		show := func(seq uint64) {
			if ctx.Err() == nil {
				a.seekedTo = "frame " + termtext.Grouped(int64(seq))
			}
		}
		then := do(frameindex.NewProgress(ctx, func(seq uint64) {
			if now := time.Now(); now.Sub(reported) > frameindex.ReportEvery {
				reported = now
				a.updates.post(func() { show(seq) })
			}
		}))
		a.updates.post(func() {
			if ctx.Err() == nil {
				a.seekedTo = ""
				then()
			}
		})
	})
}

// endSeek ends what is done in the background.
func (a *app) endSeek() {
	a.seeking.stop()
	a.seekedTo = ""
}
