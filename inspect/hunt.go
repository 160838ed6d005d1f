package inspect

import (
	"cmp"
	"errors"

	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/inspect/frameindex"
	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// beyond returns the frame behind the selected row, or the one before it, and
// the way to the next one from there.
func (a *app) beyond(forward bool) (seq, step uint64) {
	if !forward {
		return a.model.selected - 1, frameindex.Backward
	}
	return a.model.selected + uint64(max(a.model.stretch(a.model.selected).Frames, 1)), 1
}

// nearby is how many frames are looked at before the next key: that takes a few
// milliseconds (BenchmarkMillion). More of them are looked at in the background.
const nearby = 1 << 14

// hunt has the event loop call then with the frame that is found, 0 for none. What
// is found by its fields near by is at once.
func (a *app) hunt(h frameindex.Seek, then func(seq uint64)) {
	c, r := a.known.Columns, a.reel
	if h.Fits == nil {
		left := nearby
		found := c.Seek(h.From, h.Step, func(f *dialect.Frame) bool { left--; return left < 0 || h.May(f) })
		if left >= 0 {
			then(found)
			return
		}
		h.From = found
	}
	a.behind(func(on frameindex.Progress) func() {
		found, err := h.Run(c, r, on)
		return func() {
			if err != nil {
				a.fail(err)
				return
			}
			then(found)
		}
	})
}

// huntShown is hunt for those frames that are shown, from the selected row on.
func (a *app) huntShown(forward bool, h frameindex.Seek, missing string) {
	hits, may := a.model.All.Clone(), h.May
	h.May = func(f *dialect.Frame) bool { return hits.Has(f.Seq) && may(f) }
	h.From, h.Step = a.beyond(forward)
	a.hunt(h, func(seq uint64) { a.jumpOr(seq, missing) })
}

// jump selects a frame.
func (a *app) jump(seq uint64) { a.fail(a.model.jump(seq)) }

// jumpOr selects a frame, or says that there is none.
func (a *app) jumpOr(seq uint64, missing string) {
	if seq == 0 {
		a.say(missing)
		return
	}
	a.jump(seq)
}

// pair goes from a response, or a cancellation, to its request, and from a
// request to its response; to its cancellation if it has none.
func (a *app) pair() {
	f := a.pane.Frame
	if request := frameindex.RequestOf(&f); request != 0 {
		a.jump(request)
		return
	}
	if f.Kind != wire.Request && f.Kind != wire.Batch {
		a.say("no request and no response")
		return
	}
	cancelled := uint64(0)
	answers := func(g *dialect.Frame) bool {
		if frameindex.RequestOf(g) == f.Seq && g.Events.Has(dialect.RequestCancelled) {
			cancelled = cmp.Or(cancelled, g.Seq)
			return false
		}
		return frameindex.RequestOf(g) == f.Seq
	}
	a.hunt(frameindex.Seek{From: f.Seq + 1, Step: 1, May: answers}, func(seq uint64) { a.jumpOr(cmp.Or(seq, cancelled), "no answer") })
}

// sameMethod goes to the next frame of this method or variant.
func (a *app) sameMethod(forward bool) {
	f := a.pane.Frame
	called := frametext.Name(&f)
	if called == "" {
		a.say("this frame has no method")
		return
	}
	a.huntShown(forward, frameindex.Seek{May: func(g *dialect.Frame) bool { return frametext.Name(g) == called }}, "no "+termtext.Piece(called)+" "+direction(forward))
}

// sameTool goes to the next frame about this tool call.
func (a *app) sameTool(forward bool) {
	f := a.pane.Frame
	id := filter.ToolOf(&f).ID
	if id == "" {
		a.say("this frame is about no tool call")
		return
	}
	may := func(g *dialect.Frame) bool { return g.Session == f.Session && filter.AboutTool(g) }
	fits := func(g *dialect.Frame) bool { return filter.ToolOf(g).ID == id }
	a.huntShown(forward, frameindex.Seek{May: may, Fits: fits}, "nothing of this tool call "+direction(forward))
}

// forms shows what acptap has changed in a frame.
func (a *app) forms() {
	f := a.pane.Frame
	seq, step := f.Seq+1, uint64(1)
	switch f.Origin {
	case wire.Rewritten:
		seq, step = f.Seq-1, frameindex.Backward
	case wire.Withheld:
	default:
		a.say("acptap has not changed this frame")
		return
	}
	// wire.Rewritten: it stands in the place of the one before it in its direction.
	var other wire.Origin
	changed := func(g *dialect.Frame) bool {
		other = g.Origin
		return g.Dir == f.Dir && (other == wire.Withheld || other == wire.Rewritten)
	}
	a.hunt(frameindex.Seek{From: seq, Step: step, May: changed}, func(found uint64) {
		if found == 0 || other == f.Origin {
			a.say("it was withheld, and nothing came in its place")
			return
		}
		a.compare(found, f.Seq)
	})
}

// compare shows what differs between two frames.
func (a *app) compare(before, after uint64) {
	if before > after {
		before, after = after, before
	}
	f, err := a.book.Frame(before)
	g, err2 := a.book.Frame(after)
	if err := errors.Join(err, err2); err != nil {
		a.fail(err)
		return
	}
	a.pane.Compare("frame "+a.reel.Label(before)+" against frame "+a.reel.Label(after)+" · Esc ends", f.Raw, g.Raw)
	a.intoPane()
}

// compareWithMark compares the selected frame with the marked one.
func (a *app) compareWithMark() {
	switch seq := a.model.current(); {
	case a.model.mark == 0:
		a.say("mark a frame with m first")
	case seq == 0:
		a.say(noFrame)
	default:
		a.compare(a.model.mark, seq)
	}
}
