package inspect

import (
	"context"
	"time"

	"github.com/acptap/acptap/inspect/frameindex"
	"github.com/acptap/acptap/record/termtext"
)

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
