package inspect

import (
	"context"
	"time"

	"github.com/acptap/acptap/inspect/frameindex"
	"github.com/acptap/acptap/record/termtext"
)

// behind does something in the background, and has the event loop call what it
// returns, unless it was ended meanwhile. What was begun before so is ended.
func (a *app) behind(do func(on frameindex.Progress) (then func())) {
	a.endHunt()
	a.hunting.start(a.ctx, func(ctx context.Context) {
		told := time.Now()
		show := func(seq uint64) {
			if ctx.Err() == nil {
				a.looked = "frame " + termtext.Grouped(int64(seq))
			}
		}
		then := do(frameindex.NewProgress(ctx, func(seq uint64) {
			if now := time.Now(); now.Sub(told) > frameindex.ReportEvery {
				told = now
				a.feed.put(func() { show(seq) })
			}
		}))
		a.feed.put(func() {
			if ctx.Err() == nil {
				a.looked = ""
				then()
			}
		})
	})
}

// endHunt ends what is done behind.
func (a *app) endHunt() {
	a.hunting.stop()
	a.looked = ""
}
