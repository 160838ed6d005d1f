package inspect

import (
	"context"
	"time"

	"github.com/acptap/acptap/record/termtext"
)

// A gauge tells how far something is that is done behind. The zero value tells
// nobody.
type gauge struct {
	ctx   context.Context
	looks *int
	tell  func(seq uint64)
}

// at says that a frame is looked at, and reports whether to go on.
func (g gauge) at(seq uint64) bool {
	if g.tell == nil {
		return true
	}
	if *g.looks++; *g.looks%256 == 0 { // asking takes as long as looking at a frame
		g.tell(seq)
		return g.ctx.Err() == nil
	}
	return true
}

// behind does something in the background, and has the event loop call what it
// returns, unless it was ended meanwhile. What was begun before so is ended.
func (a *app) behind(do func(on gauge) (then func())) {
	a.endHunt()
	a.hunting.start(a.ctx, func(ctx context.Context) {
		told := time.Now()
		show := func(seq uint64) {
			if ctx.Err() == nil {
				a.looked = "frame " + termtext.Grouped(int64(seq))
			}
		}
		then := do(gauge{ctx, new(int), func(seq uint64) {
			if now := time.Now(); now.Sub(told) > tellEvery {
				told = now
				a.feed.put(func() { show(seq) })
			}
		}})
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
